/** Writes the messages of mails: what happened, the text, why the user gets it, and links. Pure. */
import type { Platform } from '../../core/platform.ts';
import { escapeHtml } from '../../platform/escape_html.ts';
import { capitalize } from '../../platform/unicode.ts';
import { makeReplyKey } from './reply_key.ts';
import type { Message } from './smtp.ts';
import { toHeaderText } from './smtp.ts';
import type { Subject } from './subjects.ts';
import { makeUnsubscribeLink } from './unsubscribe.ts';

export type Person = { id: number; name: string; email: string };

/** A mail with what it is about, as the recipient may see it now. */
export type MailNote = { body: string; isInternal: boolean };

export type MailContent = {
  id: number;
  kind: string;
  event_key: string;
  reason: string;
  target_type: string;
  target_id: number;
  subject: Subject;
  actor: { name: string; username: string } | null;
  /** The comment; null if the mail is about none. */
  note: MailNote | null;
  note_id: number | null;
};

/** Characters of a text that a mail shows. */
const maxText = 20_000;

const cut = (text: string, max = maxText): string =>
  text.length <= max ? text : `${text.slice(0, max)}\n[...]`;

const verbs: Record<string, string> = {
  created: 'created',
  closed: 'closed',
  reopened: 'reopened',
  merged: 'merged',
  pushed: 'pushed to',
  auto_merge: 'enabled auto-merge for',
};

const pipelineStates: Record<string, string> = {
  'pipeline.failed': 'failed',
  'pipeline.fixed': 'is fixed',
  'pipeline.succeeded': 'succeeded',
};

const deedsByReason: Record<string, string> = {
  assigned: 'assigned you to',
  review_requested: 'requested your review of',
  mentioned: 'mentioned you in',
};

/** Writes what happened, as one sentence. */
const writeHeadline = ({ kind, reason, subject, actor }: MailContent): string => {
  const state = pipelineStates[kind];
  if (state !== undefined) return `Your ${subject.name} ${state}: ${subject.project.full_path}`;
  if (kind === 'issue.due')
    return `${capitalize(subject.name)} is due on ${subject.due_date ?? 'no date'}: ${subject.title}`;
  const who = actor === null ? 'Somebody' : `${actor.name} (@${actor.username})`;
  if (kind === 'project.moved') return `${who} moved the project to ${subject.reference}`;
  if (kind === 'note.created' || kind === 'commit_comment.created')
    return `${who} commented on ${subject.name}`;
  const verb = verbs[kind.split('.')[1] ?? ''];
  if (verb !== undefined) return `${who} ${verb} ${subject.name}: ${subject.title}`;
  return `${who} ${deedsByReason[reason] ?? 'changed'} ${subject.name}: ${subject.title}`;
};

const reasonTexts: Record<string, string> = {
  mentioned: 'you were mentioned',
  assigned: 'you are assigned',
  review_requested: 'your review was requested',
  subscribed: 'you subscribed',
  participating: 'you participate',
  member: 'you are a member of the project',
  watching: 'you watch the project',
};

/** Kinds of changes after which a mail shows the description of the record. */
const isDescribed = (kind: string): boolean =>
  /\.(?:created|updated|due)$/.test(kind) || kind in pipelineStates;

const getBody = ({ kind, note, subject }: MailContent, baseUrl: string): string => {
  if (note !== null) return cut(note.body);
  if (kind === 'project.moved')
    return `Its former addresses redirect. Set the new one in your clones:\n\ngit remote set-url origin ${subject.url(baseUrl)}.git`;
  return isDescribed(kind) ? cut(subject.description ?? '') : '';
};

const getHost = (baseUrl: string): string => URL.parse(baseUrl)?.hostname ?? 'localhost';

export const toMessageId = (baseUrl: string, local: string): string => `<${local}@${getHost(baseUrl)}>`;

/** The link by which a user unsubscribes: from an issue or a merge request, or from mail of the project. */
const unsubscribeLink = (
  platform: Platform,
  user_id: number,
  { target_type, target_id, subject }: MailContent,
): string =>
  makeUnsubscribeLink(
    platform,
    target_type === 'Issue' || target_type === 'MergeRequest'
      ? { user_id, target_type, target_id }
      : { user_id, target_type: 'Project', target_id: subject.project.id },
  );

const unsubscribeHeaders = (link: string) => ({
  'List-Unsubscribe': `<${link}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
});

const listId = ({ full_path }: Subject['project'], host: string): string => {
  const labels = full_path.toLowerCase().split('/').toReversed();
  const safe = labels.map((label) => label.replaceAll(/[^a-z0-9-]+/g, '-'));
  return `${full_path.replaceAll(/[^\w./-]/g, '')} <${safe.join('.')}.${host}>`;
};

const paragraph = (text: string): string =>
  text === '' ? '' : `<div style="white-space: pre-wrap">${escapeHtml(text)}</div>\n`;

/** Lays out the HTML of a mail. All values are escaped here. */
export const writeHtml = (
  headline: string,
  body: string,
  footer: readonly { text: string; url?: string }[],
): string => {
  const lines = footer.map(({ text, url }) =>
    url === undefined ? escapeHtml(text) : `<a href="${escapeHtml(url)}">${escapeHtml(text)}</a>`,
  );
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"></head>
<body style="font-family: sans-serif">
<p><strong>${escapeHtml(headline)}</strong></p>
${paragraph(body)}<p style="color: #666; font-size: small">${lines.join('<br>\n')}</p>
</body></html>
`;
};

export const writeText = (
  headline: string,
  body: string,
  footer: readonly { text: string; url?: string }[],
): string => {
  const lines = footer.map(({ text, url }) => (url === undefined ? text : `${text}: ${url}`));
  return [headline, ...(body === '' ? [] : [body]), `-- \n${lines.join('\n')}`].join('\n\n');
};

/** Address of the record, or of the comment on it. */
const getPageUrl = ({ subject, note_id }: MailContent, baseUrl: string): string =>
  `${subject.url(baseUrl)}${note_id === null ? '' : `#note_${note_id}`}`;

/** Writes the message of one mail. */
export const composeMail = (platform: Platform, user: Person, mail: MailContent): Message => {
  const baseUrl = platform.baseUrl();
  const { subject } = mail;
  const state = pipelineStates[mail.kind];
  const isFirst = state !== undefined || (/\.(?:created|moved)$/.test(mail.kind) && mail.note === null);
  const title = state === undefined ? subject.title : `${subject.title} ${state}`;
  const unsubscribe = unsubscribeLink(platform, user.id, mail);
  const headline = writeHeadline(mail);
  const body = getBody(mail, baseUrl);
  const footer = [
    { text: 'View it', url: getPageUrl(mail, baseUrl) },
    { text: `You get this mail because ${reasonTexts[mail.reason] ?? 'of your settings'}.` },
    { text: 'Unsubscribe', url: unsubscribe },
  ];
  return {
    to: user.email,
    from_name: mail.actor?.name ?? null,
    subject: `${isFirst ? '' : 'Re: '}${subject.project.name} | ${title} (${subject.reference})`,
    text: writeText(headline, body, footer),
    html: writeHtml(headline, body, footer),
    message_id: toMessageId(baseUrl, `${mail.event_key}.${user.id}`),
    thread_id: toMessageId(baseUrl, subject.thread),
    reply_key: makeReplyKey(platform, user.id, mail),
    headers: {
      'List-Id': listId(subject.project, getHost(baseUrl)),
      ...unsubscribeHeaders(unsubscribe),
      'X-GitLab-Project': toHeaderText(subject.project.name),
      'X-GitLab-Project-Path': subject.project.full_path,
      'X-GitLab-NotificationReason': mail.reason,
    },
  };
};

/** Returns the project that all mails are about; null if there are several. */
const getOnlyProject = (mails: readonly MailContent[]): Subject['project'] | null => {
  const [first, ...others] = mails.map(({ subject }) => subject.project);
  return first !== undefined && others.every(({ id }) => id === first.id) ? first : null;
};

/** The list of a digest: of its only project, or of all projects. */
const digestListId = (project: Subject['project'] | null, host: string): string =>
  project === null ? `Notifications <notifications.${host}>` : listId(project, host);

/** Characters of a text that a digest shows. */
const maxDigestText = 500;

/** Writes one message for several mails, in the order of the changes. */
export const composeDigest = (platform: Platform, user: Person, mails: readonly MailContent[]): Message => {
  const baseUrl = platform.baseUrl();
  const project = getOnlyProject(mails);
  const unsubscribe = makeUnsubscribeLink(platform, {
    user_id: user.id,
    target_type: project === null ? 'General' : 'Project',
    target_id: project?.id ?? 0,
  });
  const headline = `${mails.length} notifications`;
  const body = mails
    .map((mail) =>
      [
        writeHeadline(mail),
        cut(getBody(mail, baseUrl), maxDigestText),
        getPageUrl(mail, baseUrl),
        `Unsubscribe: ${unsubscribeLink(platform, user.id, mail)}`,
      ]
        .filter((part) => part !== '')
        .join('\n'),
    )
    .join('\n\n');
  const footer = [
    {
      text: 'You get this mail because there were many notifications at the same time. All of them are listed here.',
    },
    { text: `Unsubscribe from ${project === null ? 'all projects' : 'this project'}`, url: unsubscribe },
  ];
  return {
    to: user.email,
    from_name: null,
    subject: `${mails.length} notifications`,
    text: writeText(headline, body, footer),
    html: writeHtml(headline, body, footer),
    message_id: toMessageId(baseUrl, `digest-${mails.at(-1)?.id ?? 0}.${user.id}`),
    thread_id: null,
    headers: { 'List-Id': digestListId(project, getHost(baseUrl)), ...unsubscribeHeaders(unsubscribe) },
  };
};
