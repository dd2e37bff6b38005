/** Settings of mail: the SMTP server, the sender, and how much is sent. Without a server, no mail is sent. */
import { type Field, readLimit, readMatching, readYes } from './parse_values.ts';

export type MailConfig = {
  /** `smtp:` or `smtps:` URL, with the user and the password; null: mail is off. */
  smtp_url: string | null;
  /** `Name <address>` or an address. */
  mail_from: string | null;
  /** Address for answers, in which `%{key}` is replaced by a key of the record and the user; null: the sender. */
  mail_reply_to: string | null;
  /** Maximum mails for one user per minute; what exceeds it is combined. */
  mail_limit: number;
  confirm_addresses: boolean;
};

const tlsModes = ['required', 'optional', 'off'];

const readSmtpUrl = (text: string): string => {
  const url = URL.parse(text);
  const tls = url?.searchParams.get('tls') ?? 'optional';
  const isKnown = url !== null && [...url.searchParams.keys()].every((name) => name === 'tls');
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '' || !isKnown)
    throw new Error('must be smtp://USER:PASSWORD@HOST:PORT or smtps://..., with ?tls=... at most');
  if (!tlsModes.includes(tls)) throw new Error(`must have ?tls= one of ${tlsModes.join(', ')}`);
  return text;
};

const addressPattern = /^(?:[^<>"\p{Cc}]{0,100}<[^\s<>@",;]+@[^\s<>@",;]+>|[^\s<>@",;]+@[^\s<>@",;]+)$/u;

export const mailFields: { [N in keyof MailConfig]: Field<MailConfig[N]> } = {
  smtp_url: {
    variable: 'GANTRY_SMTP_URL',
    default: null,
    meaning:
      'SMTP server: smtp://USER:PASSWORD@HOST:PORT (STARTTLS) or smtps://...; ?tls=required, optional or off; default: no mail is sent',
    secret: true,
    read: readSmtpUrl,
  },
  mail_from: {
    variable: 'GANTRY_MAIL_FROM',
    default: null,
    meaning: 'sender of mails, such as Gantry <gantry@example.com>; needed with GANTRY_SMTP_URL',
    read: readMatching(addressPattern, 'an address, or NAME <ADDRESS>'),
  },
  mail_reply_to: {
    variable: 'GANTRY_MAIL_REPLY_TO',
    default: null,
    meaning:
      'address that receives replies to mails; %{key} in it is replaced by a key of the record and the user; default: the sender',
    read: readMatching(addressPattern, 'an address, or NAME <ADDRESS>'),
  },
  mail_limit: {
    variable: 'GANTRY_MAIL_LIMIT',
    default: '20',
    meaning: 'maximum mails to one user per minute; notifications beyond it are combined into one mail',
    read: (text) => Math.max(readLimit(text), 1),
  },
  confirm_addresses: {
    variable: 'GANTRY_CONFIRM_ADDRESSES',
    default: 'false',
    meaning:
      'true: users who sign up or change their address must confirm it by mail before they sign in with a password',
    read: readYes,
  },
};
