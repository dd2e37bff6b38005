/** Validates the input of hooks. Pure. */
import { Failure } from '../../platform/errors.ts';
import { compilePattern } from '../../platform/pattern.ts';
import { isPublicHost } from '../sender/addresses.ts';
import type { BranchFilterStrategy } from './flags.ts';
import { type Values, interpolateUrl } from './secrets.ts';
import { parseTemplate } from './template.ts';

/** 422 with the problem of one parameter, in the form that clients of hooks expect. */
const unprocessable = (parameter: string, problem: string): Failure =>
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

type KeyValue = { key: string; value: string };

const isKeyValue = (one: unknown): one is KeyValue =>
  typeof one === 'object' &&
  one !== null &&
  typeof (one as KeyValue).key === 'string' &&
  typeof (one as KeyValue).value === 'string';

/** Reads a list of `{ key, value }`, or a hash by index; null: it is neither. */
const readKeyValues = (raw: unknown): KeyValue[] | null => {
  const items = typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? Object.values(raw) : raw;
  return Array.isArray(items) && items.every(isKeyValue) ? items : null;
};

/** @throws Failure 422 */
export const readUrlVariables = (raw: unknown): Values => {
  const items = readKeyValues(raw);
  const isValid = ({ key, value }: KeyValue): boolean =>
    namePattern.test(key) && value.length > 0 && value.length <= 2048;
  if (items === null || items.length > maxVariables || !items.every(isValid))
    throw unprocessable('url_variables', 'Invalid url variables given');
  return Object.fromEntries(items.map(({ key, value }) => [key, value]));
};

const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** @throws Failure 422 */
export const readHeaders = (raw: unknown): Values => {
  const items = readKeyValues(raw);
  const isValid = ({ key, value }: KeyValue): boolean =>
    headerName.test(key) &&
    key.length <= 255 &&
    !reservedHeaders.has(key.toLowerCase()) &&
    !key.toLowerCase().startsWith('x-gitlab-') &&
    /^[\t\u0020-\u007E\u0080-\u00FF]{0,2048}$/.test(value);
  if (items === null || items.length > maxHeaders || !items.every(isValid))
    throw unprocessable('custom_headers', 'Invalid custom headers given');
  return Object.fromEntries(items.map(({ key, value }) => [key, value]));
};

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
