/** What is repeated: fragments that a parser may read again from each of their starts, and what carries them. */
import fc from 'fast-check';
import type { AnyEndpoint } from '../../src/platform/http/endpoint.ts';
import { type Place, placesOf } from './path_params.ts';
import { type Sendable, asText } from './requests.ts';
import { type Keywords, validValue } from './valid_values.ts';

export type Probe = {
  /** Names the input in a failure. */
  name: string;
  /** Bytes or characters at most: more are refused before they are read. */
  longest: number;
  /** The request with so many characters of the fragment. */
  of: (length: number) => Sendable & { headers?: Record<string, string> };
};

const short = ['1', ' ', '%41', '\u0301\u0323', '-'];
export const texts = [
  ...short,
  'a\u0301',
  'a/',
  '/',
  '[',
  '](',
  '(',
  '..',
  '\n',
  '\r\n',
  '*',
  '`',
  '<!--',
  '{{',
  '@a ',
  '#1 ',
  '/label ~a\n',
  '- [ ] ',
  '"a ',
  '\\',
  ',',
  'a: [',
  '&a *a ',
  '1h ',
  'İ',
];

export const repeated = (fragment: string, length: number): string =>
  fragment.repeat(Math.ceil(length / fragment.length)).slice(0, length);

const longestPart = 1500;
const longestQuery = 7 * 1024;
const longestText = 64 * 1024;

type Declared = [name: string, keywords: Keywords & { maxLength?: number }];

const drawn = (path: string, [name, keywords]: Declared, seed: number): unknown =>
  fc.sample(validValue(path, name, keywords), { numRuns: 1, seed })[0];

const isText = ({ type, format, enum: words }: Keywords): boolean =>
  (type === 'string' || type === undefined || type === 'array') &&
  format === undefined &&
  words === undefined;

type Values = { inPath: Record<string, unknown>; rest: Record<string, unknown> };

const pathNames = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');

const fillPath = (path: string, values: Record<string, unknown>): string =>
  path.replace(/:(\w+)/g, (_all, name: string) => encodeURIComponent(asText(values[name] ?? 'x')));

const wire = (endpoint: AnyEndpoint<never>, { inPath, rest }: Values, prefix: string): Sendable => {
  const { method } = endpoint;
  const url = `${prefix}${fillPath(endpoint.path, inPath)}`;
  if (method === 'GET' || method === 'DELETE') {
    const pairs = Object.entries(rest).map(([name, value]) => [name, asText(value)]);
    return { method, url: `${url}?${new URLSearchParams(pairs).toString()}` };
  }
  if (prefix === '') {
    const form = new URLSearchParams(Object.entries(rest).map(([name, value]) => [name, asText(value)]));
    return { method, url, body: form.toString(), type: 'application/x-www-form-urlencoded' };
  }
  return { method, url, body: JSON.stringify(rest), type: 'application/json' };
};

/** Characters as a URL carries them. */
const encodedLength = (fragment: string): number => encodeURIComponent(fragment).length / fragment.length;

const longestOf = (endpoint: AnyEndpoint<never>, [name, keywords]: Declared, fragment: string): number => {
  if (pathNames(endpoint.path).includes(name)) return Math.floor(longestPart / encodedLength(fragment));
  const isQuery = endpoint.method === 'GET' || endpoint.method === 'DELETE';
  const most = isQuery ? Math.floor(longestQuery / encodedLength(fragment)) : longestText;
  const taken = keywords.maxLength ?? (keywords.type === 'array' ? most : 255);
  // A text that is too long is refused for its length, whatever is in it.
  return isText(keywords) ? Math.min(most, taken) : most;
};

/** For each parameter of an endpoint, each fragment; all others as somebody sends them who knows what there is. */
export const probesOf = (
  endpoint: AnyEndpoint<never>,
  places: readonly Place[],
  seed: number,
  prefix = '/api/v4',
): Probe[] => {
  const all = Object.entries(endpoint.params.properties) as Declared[];
  const names = pathNames(endpoint.path);
  const required = endpoint.params.required ?? [];
  const place = placesOf(endpoint.path, places)[0] ?? {};
  const known = (one: Declared): unknown => place[one[0]] ?? drawn(endpoint.path, one, seed);
  const inPath = Object.fromEntries(
    all.filter(([name]) => names.includes(name)).map((one) => [one[0], known(one)]),
  );
  const rest = Object.fromEntries(
    all
      .filter(([name]) => required.includes(name) && !names.includes(name))
      .map((one) => [one[0], known(one)]),
  );
  return all.flatMap((one) => {
    const [name, keywords] = one;
    return (isText(keywords) ? texts : short).map((fragment) => ({
      name: `${endpoint.method} ${endpoint.path}: ${name}: ${JSON.stringify(fragment)}`,
      longest: longestOf(endpoint, one, fragment),
      of: (length: number) => {
        const value = repeated(fragment, length).toWellFormed();
        return names.includes(name)
          ? wire(endpoint, { inPath: { ...inPath, [name]: value }, rest }, prefix)
          : wire(endpoint, { inPath, rest: { ...rest, [name]: value } }, prefix);
      },
    }));
  });
};

const headers = [
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'content-range',
  'content-type',
  'cookie',
  'forwarded',
  'git-protocol',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'job-token',
  'origin',
  'private-token',
  'range',
  'referer',
  'runner-token',
  'sec-fetch-site',
  'sudo',
  'user-agent',
  'x-csrf-token',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-request-id',
  'access-control-request-headers',
];

const inHeaders = [
  ...new Set([
    ...short,
    'a/',
    '[',
    '(',
    '..',
    ',',
    ';',
    '=',
    ';a=',
    'a=b; ',
    '"',
    '\\',
    '\t',
    ', 1-2',
    'a.',
    ':',
  ]),
];
const beginnings: Record<string, string[]> = {
  authorization: ['', 'Basic ', 'Bearer '],
  range: ['', 'bytes='],
  'content-type': ['', 'multipart/form-data; boundary=', 'application/json; '],
  cookie: ['', '_service_session='],
};

/** Doors that read headers: the API, pages, git, a file, OAuth, runners. */
const doors: Sendable[] = [
  { method: 'GET', url: '/api/v4/projects' },
  { method: 'PUT', url: '/api/v4/projects/1', body: '{}' },
  { method: 'GET', url: '/users/sign_in' },
  { method: 'GET', url: '/root/first.git/info/refs?service=git-upload-pack' },
  { method: 'GET', url: '/api/v4/projects/1/repository/files/README.md/raw?ref=main' },
  { method: 'POST', url: '/oauth/token', body: 'grant_type=x' },
  { method: 'PATCH', url: '/api/v4/jobs/1/trace', body: 'x' },
  { method: 'GET', url: '/jwt/auth' },
];

/** Node takes 16 KiB of headers. */
const longestHeader = 14 * 1024;

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

export const headerProbes: Probe[] = doors.flatMap((door) =>
  headers.flatMap((header) =>
    (beginnings[header] ?? ['']).flatMap((start) =>
      inHeaders.map((fragment) => ({
        name: `${door.method} ${door.url}: header ${header}: ${start}${JSON.stringify(fragment)}`,
        longest: Math.floor(longestHeader / Buffer.byteLength(fragment)) * fragment.length,
        of: (length: number) => ({
          ...door,
          headers: { [header]: latin1(`${start}${repeated(fragment, length)}`) },
        }),
      })),
    ),
  ),
);

/** Whole targets: paths, and the names and values of a query. */
const starts = [
  '/',
  '/api/v4/',
  '/api/v4/projects/',
  '/root/',
  '/-/projects/',
  '/api/v4/projects?',
  '/api/v4/projects?a=',
];
const inTargets = [
  'a/',
  '/',
  '%2F',
  '..',
  '../',
  '%41',
  '%',
  '.git',
  '-/',
  '[',
  '[]',
  '[a]',
  'a[][b]=&',
  '&',
  'a=1&',
  'a[]=1&',
  '+',
  ';',
  '.json',
  'a%CC%81%CC%A3',
];
export const targetProbes: Probe[] = starts.flatMap((start) =>
  inTargets.map((fragment) => ({
    name: `GET ${start}${fragment}...`,
    longest: longestQuery,
    of: (length: number) => ({ method: 'GET', url: `${start}${repeated(fragment, length)}` }),
  })),
);
