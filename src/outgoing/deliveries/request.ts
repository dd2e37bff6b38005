/** Builds the HTTP request of a delivery. Pure. */
import { createHmac } from 'node:crypto';
import { type HookSecrets, interpolateUrl } from '../hooks/secrets.ts';
import type { HookRow } from '../hooks/queries.ts';
import { parseTemplate } from '../hooks/template.ts';
import { describePayload } from '../payloads/chat/describe.ts';
import { renderMessage } from '../payloads/chat/render.ts';
import type { OutgoingRequest } from '../sender/send.ts';

export type Message = {
  /** `webhook-id`, the same at each attempt. */
  id: string;
  event_uuid: string;
  /** `X-Gitlab-Event`. */
  event_name: string;
  /** JSON of the payload. */
  body: string;
};

type Instance = { baseUrl: string; version: string; now: number };

/** The key of a signature: `whsec_` and base64, as Standard Webhooks has it, or any text. */
const toKey = (secret: string): Buffer =>
  secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);

const sign = (secret: string, { id, body }: Message, timestamp: string): string =>
  `v1,${createHmac('sha256', toKey(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`;

/** The body that is sent: the payload, a message for a chat, or what the hook's template makes of it. */
export const renderBody = (
  { custom_webhook_template: template, format }: Pick<HookRow, 'custom_webhook_template' | 'format'>,
  payload: string,
): string => {
  if (format !== 'json') return renderMessage(format, describePayload(JSON.parse(payload)));
  const render = template === null ? null : parseTemplate(template);
  return render === null ? payload : render(JSON.parse(payload));
};

/** Headers without secrets, as the log shows them. */
const plainHeaders = (hook: HookRow, message: Message, { baseUrl, version, now }: Instance) => ({
  'Content-Type': 'application/json',
  'User-Agent': `Gantry/${version}`,
  'X-Gitlab-Event': message.event_name,
  'X-Gitlab-Event-UUID': message.event_uuid,
  'X-Gitlab-Instance': baseUrl,
  'X-Gitlab-Webhook-UUID': hook.uuid,
  'Idempotency-Key': message.id,
  'webhook-id': message.id,
  'webhook-timestamp': String(Math.floor(now / 1_000)),
});

const hidden = '[REDACTED]';

export type BuiltRequest = { request: OutgoingRequest; loggedHeaders: Record<string, string> };

export const buildRequest = (
  hook: HookRow,
  secrets: HookSecrets,
  message: Message,
  instance: Instance,
): BuiltRequest => {
  const plain = plainHeaders(hook, message, instance);
  const key = secrets.signingToken ?? secrets.token;
  const secret: Record<string, string> = {
    ...(secrets.token !== null && { 'X-Gitlab-Token': secrets.token }),
    ...(key !== null && { 'webhook-signature': sign(key, message, plain['webhook-timestamp']) }),
    ...secrets.headers,
  };
  return {
    request: {
      url: interpolateUrl(hook.url, secrets.urlVariables),
      headers: { ...plain, ...secret },
      body: message.body,
      verifiesCertificate: hook.enable_ssl_verification === 1,
    },
    loggedHeaders: { ...plain, ...Object.fromEntries(Object.keys(secret).map((name) => [name, hidden])) },
  };
};
