/** The connection to the SMTP server. `nodemailer` is loaded with the first mail. */
import type { Platform } from '../../core/platform.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';
import { fillReplyTo } from './reply_key.ts';

export type Message = {
  /** Address of the user. */
  to: string;
  /** Display name of the sender, whose address is the service's address; null: the name of the service. */
  from_name: string | null;
  subject: string;
  text: string;
  html: string;
  message_id: string;
  /** `Message-ID` of the thread; null: none. */
  thread_id: string | null;
  headers: { [name: string]: string };
  /** Key in the address for answers; absent: the mail cannot be answered. */
  reply_key?: string | undefined;
};

/** Milliseconds. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 };

const isLocal = (host: string): boolean => /^(?:localhost|127\.[\d.]+|\[?::1\]?)$/.test(host);

/** Options of the connection. A password is sent only over TLS, except to this machine. */
export const readServer = (text: string) => {
  const url = new URL(text);
  const secure = url.protocol === 'smtps:';
  const tls =
    url.searchParams.get('tls') ?? (url.username === '' || isLocal(url.hostname) ? 'optional' : 'required');
  const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTLS: tls === 'required',
    ignoreTLS: tls === 'off',
    ...(user !== '' && { auth: { user, pass } }),
  };
};

const openTransport = async (smtpUrl: string) => {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    ...readServer(smtpUrl),
    ...timeouts,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
};

const getTransport = memoizePerStore(
  async ({ config }: Platform) => await openTransport(config.smtp_url ?? ''),
);

/** Splits `Name <address>`. */
const readSender = (text: string): { name: string; address: string } => {
  const [, name = '', address = text] = /^([^<]*)<([^>]+)>$/.exec(text.trim()) ?? [];
  return { name: name.trim(), address };
};

/** A text for a header: one line, without control characters. */
export const toHeaderText = (text: string, maxLength = 255): string =>
  text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, maxLength);

/** Sends a message. Rejects if the server does not accept it. */
export const sendMessage = async (platform: Platform, message: Message): Promise<void> => {
  const { mail_from, mail_reply_to } = platform.config;
  const sender = readSender(mail_from ?? '');
  const replyTo = fillReplyTo(mail_reply_to, message.reply_key);
  const transport = await getTransport(platform);
  await transport.sendMail({
    from: { name: toHeaderText(message.from_name ?? sender.name, 100), address: sender.address },
    to: { name: '', address: message.to },
    ...(replyTo !== null && { replyTo: readSender(replyTo) }),
    subject: toHeaderText(message.subject),
    text: message.text,
    html: message.html,
    date: new Date(platform.clock.now()),
    messageId: message.message_id,
    ...(message.thread_id !== null && { inReplyTo: message.thread_id, references: message.thread_id }),
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...message.headers,
    },
  });
};

type SendingError = { code?: unknown; responseCode?: unknown };

/** Returns whether the server refused this message or its recipient permanently; other failures are retried. */
export const isRefused = (error: unknown): boolean => {
  const { code, responseCode } = (error ?? {}) as SendingError;
  const isOfMessage = code === 'EENVELOPE' || code === 'EMESSAGE';
  return isOfMessage && typeof responseCode === 'number' && responseCode >= 500 && responseCode < 600;
};
