/** Validates the input of hooks. Pure. */
import { Failure } from '../../platform/errors.ts';
import { compilePattern } from '../../platform/pattern.ts';
import { isPublicHost } from '../../platform/addresses/allowed_addresses.ts';
import type { BranchFilterStrategy } from './event_flags.ts';
import { type Values, interpolateUrl } from './secrets.ts';
import { parseTemplate } from './template.ts';

/** 422 with the problem of one parameter, in the form that clients of hooks expect. */
export const unprocessable = (parameter: string, problem: string): Failure =>
  new Failure('unprocessable', { message: { [parameter]: [problem] }, error: problem });

const maxVariables = 20;
const maxHeaders = 20;
const namePattern = /^[A-Za-z]\w*(?:[-.]\w+)*$/;

/** Headers that the service sets, or that would change how the request is read. */
const reservedHeaders = new Set([
  'connection',
  'content-length',
  'content-type',
  'host',
  'idempotency-key',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'webhook-id',
  'webhook-signature',
  'webhook-timestamp',
]);

/** Without a value: the stored one is kept. */
type KeyValue = { key: string; value?: string | null };

const isKeyValue = (one: unknown): one is KeyValue => {
  const { key, value } = (one ?? {}) as KeyValue;
  return typeof key === 'string' && (typeof value === 'string' || value === undefined || value === null);
};

/** Reads a list of `{ key, value }`, or a hash by index; null if it is neither. */
const readKeyValues = (raw: unknown): KeyValue[] | null => {
  const items = typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? Object.values(raw) : raw;
  return Array.isArray(items) && items.every(isKeyValue) ? items : null;
};

/** Values by name, and whether some of them were kept instead of sent. */
export type ReadValues = { values: Values; hasKept: boolean };

/** @throws Failure 422 */
const readValues = (
  parameter: string,
  { raw, stored, most }: { raw: unknown; stored: Values; most: number },
  isValid: (key: string, value: string) => boolean,
): ReadValues => {
  const items = readKeyValues(raw);
  const invalid = unprocessable(parameter, `Invalid ${parameter.replace('_', ' ')} given`);
  if (items === null || items.length > most) throw invalid;
  const values: Values = {};
  for (const { key, value } of items) {
    const own = value ?? (Object.hasOwn(stored, key) ? stored[key] : undefined);
    if (own === undefined || !isValid(key, own)) throw invalid;
    values[key] = own;
  }
  return { values, hasKept: items.some(({ value }) => typeof value !== 'string') };
};

/** Reads the variables of a URL. @param stored values that are kept if only the key is sent @throws Failure 422 */
export const readUrlVariables = (raw: unknown, stored: Values): ReadValues =>
  readValues(
    'url_variables',
    { raw, stored, most: maxVariables },
    (key, value) => namePattern.test(key) && value.length > 0 && value.length <= 2048,
  );

const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** Reads custom headers. @param stored values that are kept if only the key is sent @throws Failure 422 */
export const readHeaders = (raw: unknown, stored: Values): ReadValues =>
  readValues(
    'custom_headers',
    { raw, stored, most: maxHeaders },
    (key, value) =>
      headerName.test(key) &&
      key.length <= 255 &&
      !reservedHeaders.has(key.toLowerCase()) &&
      !key.toLowerCase().startsWith('x-gitlab-') &&
      /^[\t\u0020-\u007E\u0080-\u00FF]{0,2048}$/.test(value),
  );

/**
 * Requires an http(s) URL. One that plainly names this machine or a private address is refused unless local requests
 * are allowed; names are resolved at each delivery.
 * @throws Failure 422
 */
export const checkUrl = (url: string, variables: Values, isLocalAllowed: (host: string) => boolean): void => {
  const whole = interpolateUrl(url, variables);
  const parsed = URL.parse(whole);
  const isWeb = parsed !== null && (parsed.protocol === 'http:' || parsed.protocol === 'https:');
  if (!isWeb || !/^https?:\/\/[^\s\p{Cc}]+$/iu.test(whole)) throw unprocessable('url', 'Invalid url given');
  if (!isPublicHost(parsed.hostname) && !isLocalAllowed(parsed.hostname))
    throw unprocessable('url', 'Invalid url given');
};

/** @throws Failure 422 */
export const checkTemplate = (template: string): void => {
  if (parseTemplate(template) === null)
    throw unprocessable('custom_webhook_template', 'Invalid custom webhook template given');
};

/** @throws Failure 422 */
export const checkToken = (token: string): void => {
  if (!/^[\u0020-\u007E\u0080-\u00FF]*$/.test(token)) throw unprocessable('token', 'Invalid token given');
};

/** Requires a pattern that the chosen strategy can match. @throws Failure 422 */
export const checkBranchFilter = (filter: string | null, strategy: BranchFilterStrategy): void => {
  if (filter === null || strategy !== 'regex' || compilePattern(filter) !== null) return;
  throw unprocessable('push_events_branch_filter', 'Invalid branch filter given');
};
