/** Headers and targets that repeat a fragment. */
import { type Probe, longestQuery, repeated, short } from './fragments.ts';
import type { Sent } from './send.ts';

/** What the code reads, which a test compares with it, and what Node, Fastify and proxies read. */
export const headers = [
  'accept',
  'accept-encoding',
  'accept-language',
  'access-control-request-headers',
  'access-control-request-method',
  'authorization',
  'connection',
  'content-encoding',
  'content-range',
  'content-type',
  'cookie',
  'expect',
  'forwarded',
  'git-protocol',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'job-token',
  'last-event-id',
  'origin',
  'private-token',
  'range',
  'referer',
  'runner-token',
  'sec-fetch-site',
  'sudo',
  'te',
  'traceparent',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
  'x-csrf-token',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'x-request-id',
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
    '1, ',
    '1.1.1.1, ',
    'for=1;',
    'for=1, ',
    'a;q=0, ',
  ]),
];
const beginnings: Record<string, string[]> = {
  accept: ['', 'text/html,'],
  authorization: ['', 'Basic ', 'Bearer '],
  'content-range': ['', 'bytes '],
  'content-type': ['', 'multipart/form-data; boundary=', 'application/json; '],
  cookie: ['', '_service_session='],
  'git-protocol': ['', 'version=2:'],
  origin: ['', 'http://'],
  range: ['', 'bytes='],
  traceparent: ['', '00-'],
};

/** Doors that read headers: the API, pages, assets, git, files, streams, OAuth, runners, monitoring. */
const doors: Sent[] = [
  { method: 'GET', url: '/api/v4/projects' },
  { method: 'OPTIONS', url: '/api/v4/projects' },
  { method: 'PUT', url: '/api/v4/projects/1', body: '{}' },
  { method: 'DELETE', url: '/api/v4/projects/1/labels/none' },
  { method: 'GET', url: '/api/v4/changes' },
  { method: 'GET', url: '/users/sign_in' },
  { method: 'POST', url: '/users/sign_in', body: 'a=1' },
  { method: 'GET', url: '/assets/none.css' },
  { method: 'GET', url: '/root/first.git/info/refs?service=git-upload-pack' },
  { method: 'POST', url: '/root/first.git/git-upload-pack', body: '0000' },
  { method: 'GET', url: '/api/v4/projects/1/repository/files/README.md/raw?ref=main' },
  { method: 'POST', url: '/oauth/token', body: 'grant_type=x' },
  { method: 'POST', url: '/api/v4/jobs/request', body: '{}' },
  { method: 'PUT', url: '/api/v4/jobs/1', body: '{}' },
  { method: 'PATCH', url: '/api/v4/jobs/1/trace', body: 'x' },
  { method: 'POST', url: '/api/v4/jobs/1/artifacts', body: 'x' },
  { method: 'GET', url: '/-/jobs/1/trace/stream' },
  { method: 'GET', url: '/-/metrics' },
  { method: 'GET', url: '/-/health' },
  { method: 'GET', url: '/jwt/auth' },
];

/** Node takes 16 KiB of headers. */
const longestHeader = 14 * 1024;

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

const longestOf = (fragment: string): number =>
  Math.floor(longestHeader / Buffer.byteLength(fragment)) * fragment.length;

const oneHeader = (door: Sent): Probe[] =>
  headers.flatMap((header) =>
    (beginnings[header] ?? ['']).flatMap((start) =>
      inHeaders.map((fragment) => ({
        name: `${door.method} ${door.url}: header ${header}: ${start}${JSON.stringify(fragment)}`,
        longest: longestOf(fragment),
        of: (length: number) => ({
          ...door,
          headers: { [header]: latin1(`${start}${repeated(fragment, length)}`) },
        }),
      })),
    ),
  );

/** The same header many times, and many headers. Node keeps two thousand. */
const manyHeaders = (door: Sent): Probe[] => [
  ...headers.map((header) => ({
    name: `${door.method} ${door.url}: header ${header} again and again`,
    longest: Math.floor(longestHeader / (header.length + 5)),
    of: (length: number) => ({
      ...door,
      headers: { [header]: Array.from({ length }, () => '1') },
    }),
  })),
  {
    name: `${door.method} ${door.url}: many headers`,
    longest: 1400,
    of: (length: number) => ({
      ...door,
      headers: Object.fromEntries(Array.from({ length }, (_one, at) => [`x-${at}`, '1'])),
    }),
  },
];

export const headerProbes: Probe[] = doors.flatMap((door) => [...oneHeader(door), ...manyHeaders(door)]);

/** Whole targets: paths, and the names and values of a query. */
const starts = [
  '/',
  '/api/v4/',
  '/api/v4/projects/',
  '/api/v4/projects/1/repository/files/',
  '/api/v4/projects/1/repository/archive',
  '/root/',
  '/root/first.git/',
  '/root/first/-/raw/main/',
  '/-/projects/',
  'http://',
  '/api/v4/projects?',
  '/api/v4/projects?a=',
  '/users/sign_in?',
];
const ends = ['', '#', '/info/refs', '.json', '/git-upload-pack'];
const inTargets = [
  'a/',
  '/',
  '%2F',
  '..',
  '../',
  '%41',
  '%',
  '.git',
  'a.git/',
  'a.git/objects/',
  '-/',
  '/-/',
  '[',
  '[]',
  '[a]',
  'a[][b]=&',
  '&',
  'a=1&',
  'a[]=1&',
  '+',
  ';',
  '#',
  '@',
  ':',
  '.json',
  'a%CC%81%CC%A3',
];
export const targetProbes: Probe[] = starts.flatMap((start) =>
  inTargets.flatMap((fragment) =>
    (start.includes('?') ? [''] : ends).map((end) => ({
      name: `GET ${start}${fragment}...${end}`,
      longest: start.includes('?') ? longestQuery : 2 * longestQuery,
      of: (length: number) => ({ method: 'GET', url: `${start}${repeated(fragment, length)}${end}` }),
    })),
  ),
);
