/** Writes mails about the account itself, and test mails. */
import { type SecurityMailKind, securityMailKinds } from '../../core/mail/notify_of_security_change.ts';
import type { Platform } from '../../core/platform.ts';
import {
  type AccountPurpose,
  accountMailKinds,
  emailAddedKind,
  makeLinkToken,
} from '../../identity/account_mails/links.ts';
import { findConfirmedAddress } from '../../identity/users/addresses/further_addresses.ts';
import { type Person, toMessageId, writeHtml, writeText } from './compose.ts';
import type { MailRow } from './mail_contents.ts';
import type { Message } from './smtp.ts';

/** Kind of the mail by which an administrator tests the settings. */
export const testMailKind = 'account.test';

type Content = {
  subject: string;
  headline: string;
  body: string;
  link: { text: string; url: string } | null;
};

const contents: Record<AccountPurpose, (url: string) => Content> = {
  password_reset: (url) => ({
    subject: 'Reset your password',
    headline: 'Somebody, hopefully you, asked to reset the password of your account.',
    body: 'The link works once, for two hours. If you did not ask for it, ignore this mail: your password stays.',
    link: { text: 'Choose a new password', url },
  }),
  confirm_address: (url) => ({
    subject: 'Confirm your e-mail address',
    headline: 'Confirm that this address is yours.',
    body: 'The link works for three days. If you have no account here, ignore this mail.',
    link: { text: 'Confirm the address', url },
  }),
};

const paths: Record<AccountPurpose, string> = {
  password_reset: '/users/password/edit',
  confirm_address: '/users/confirmation',
};

const testContent: Content = {
  subject: 'Test mail',
  headline: 'The mail settings work.',
  body: 'An administrator requested this mail.',
  link: null,
};

const ifNotYou =
  'If this was not you, change your password, and remove the passkeys and SSH keys that are not yours.';

/** Subject, headline and the page of the account that shows the change. */
const securityChanges: Record<SecurityMailKind, [subject: string, headline: string, page: string]> = {
  'account.passkey_added': [
    'A passkey was added to your account',
    'A passkey was added to your account. It signs in without password and second factor, also after you change your password.',
    'passkeys',
  ],
  'account.ssh_key_added': [
    'An SSH key was added to your account',
    'An SSH key was added to your account. It reads and changes repositories in your name.',
    'keys',
  ],
  'account.password_changed': [
    'Your password was changed',
    'The password of your account was changed, and all browsers were signed out. Passkeys and SSH keys still work.',
    'passkeys',
  ],
  'account.two_factor_disabled': [
    'Two-factor authentication was turned off',
    'Two-factor authentication of your account was turned off.',
    'two_factor',
  ],
  'account.recovery_codes_replaced': [
    'Your recovery codes were replaced',
    'The recovery codes of your account were replaced.',
    'two_factor',
  ],
};

const writeSecurityChange = ({ baseUrl }: Platform, to: string, kind: SecurityMailKind): Addressed => {
  const [subject, headline, path] = securityChanges[kind];
  const link = { text: 'Check your account', url: `${baseUrl()}/profile/${path}` };
  return { to, subject, headline, body: ifNotYou, link };
};

type Addressed = Content & { to: string };

const readAddedAddress = async (
  { store, baseUrl }: Platform,
  to: string,
  { user_id, target_id }: MailRow,
): Promise<Addressed | null> => {
  const row = await findConfirmedAddress(store.db, user_id, target_id ?? 0);
  return row === undefined
    ? null
    : {
        to,
        subject: 'An e-mail address was added to your account',
        headline: `${row.email} was added to your account and confirmed.`,
        body: 'It can sign in with your password, and reset it. If this was not you, delete the address and change your password.',
        link: { text: 'Your e-mail addresses', url: `${baseUrl()}/profile/emails` },
      };
};

const readContent = async (platform: Platform, to: string, row: MailRow): Promise<Addressed | null> => {
  if (row.kind === testMailKind) return { ...testContent, to };
  if (row.kind === emailAddedKind) return await readAddedAddress(platform, to, row);
  const change = securityMailKinds.find((kind) => kind === row.kind);
  if (change !== undefined) return writeSecurityChange(platform, to, change);
  const purpose = (Object.keys(accountMailKinds) as AccountPurpose[]).find(
    (name) => accountMailKinds[name] === row.kind,
  );
  if (purpose === undefined) return null;
  const link = await makeLinkToken(platform, purpose, {
    user_id: row.user_id,
    email_id: row.target_id,
    requested_at: row.created_at,
  });
  if (link === null) return null;
  const url = `${platform.baseUrl()}${paths[purpose]}?token=${link.token}`;
  return { ...contents[purpose](url), to: link.email };
};

/** Writes a mail about the account. @returns null if it must not be sent, because its link has expired */
export const composeAccountMail = async (
  platform: Platform,
  { id, email }: Person,
  row: MailRow,
): Promise<Message | null> => {
  const content = await readContent(platform, email, row);
  if (content === null) return null;
  const { to, subject, headline, body, link } = content;
  const footer = [...(link === null ? [] : [link]), { text: platform.baseUrl(), url: platform.baseUrl() }];
  return {
    to,
    from_name: null,
    subject,
    text: writeText(headline, body, footer),
    html: writeHtml(headline, body, footer),
    message_id: toMessageId(platform.baseUrl(), `${row.event_key}.${id}`),
    thread_id: null,
    headers: {},
  };
};
