/** Shapes of bodies, and texts in forms, that repeat a fragment. */
import { type Probe, inTokens } from './fragments.ts';

/** The shortest that is taken in a long body, and the slowest to search for. */
const boundary = 'abcde';

const part = (head: string, text = 'x'): string => `--${boundary}\r\n${head}\r\n\r\n${text}\r\n`;
const disposition = 'content-disposition: form-data; name=';

/** Body shapes: a start, what is repeated, and an end. */
const shapes: Record<string, [start: string, fragment: string, end: string][]> = {
  'application/json': [
    ['{"a":[', '[],', '1]}'],
    ['{"a":[', '{},', '1]}'],
    ['{"a":[', '1,', '1]}'],
    ['{"a":[', '{"a":1},', '1]}'],
    ['{"a":', '[', ''],
    ['{"a":', '{"a":', ''],
    ['{', '"a":1,', '"a":1}'],
    ['{"a":"', String.raw`\\`, '"}'],
    ['{"a":"', String.raw`\u0041`, '"}'],
    ['{"a":"', 'é', '"}'],
    ['{"a":', '1', '}'],
    ['', ' ', '{}'],
  ],
  'application/x-www-form-urlencoded': [
    ['', 'a=1&', ''],
    ['', '&', ''],
    ['', 'a[]=1&', ''],
    ['', 'a[][b]=1&', ''],
    ['', 'a%5B%5D%5Bb%5D=1&', ''],
    ['a=', '+', ''],
    ['a=', '%41', ''],
    ['', '[', ''],
    ['a', '[b]', '=1'],
    ['a[][b]', '[b]', '=1'],
    ['a', '[]', '=1'],
    ['', '=', ''],
    ['', '{', ''],
  ],
  [`multipart/form-data; boundary=${boundary}`]: [
    ['', `--${boundary}\r\n`, `--${boundary}--\r\n`],
    ['', `--${boundary}\r\n\r\n`, `--${boundary}--\r\n`],
    ['', part(`${disposition}"a"`), `--${boundary}--\r\n`],
    ['', part(`${disposition}"f"; filename="a"`), `--${boundary}--\r\n`],
    [`--${boundary}\r\n`, '\r', `\r\n\r\nx\r\n--${boundary}--\r\n`],
    [`--${boundary}\r\n`, 'a:b\r\n', `\r\n\r\nx\r\n--${boundary}--\r\n`],
    [`--${boundary}\r\n${disposition}"`, '%41', `"\r\n\r\nx\r\n--${boundary}--\r\n`],
    [`--${boundary}\r\n${disposition}"a"`, '; a=b', `\r\n\r\nx\r\n--${boundary}--\r\n`],
    [`--${boundary}\r\n${disposition}"a"\r\n\r\n`, '\r\n-', `\r\n--${boundary}--\r\n`],
    [`--${boundary}\r\n${disposition}"a"\r\n\r\n`, '\r', `\r\n--${boundary}--\r\n`],
    [`--${boundary}\r\n${disposition}"a"\r\n\r\n`, '\r\n', `\r\n--${boundary}--\r\n`],
    [`--${boundary}\r\n${disposition}"a"\r\n\r\n`, 'é', `\r\n--${boundary}--\r\n`],
  ],
  [`multipart/form-data; foo-boundary=zzzzz; boundary=${boundary}`]: [
    ['', `--${boundary}\r\n`, `--${boundary}--\r\n`],
  ],
};

/** Where bodies are parsed, some of them before anybody has signed in. */
const bodyDoors = [
  '/api/v4/projects/1/issues',
  '/api/v4/projects/1/uploads',
  '/api/v4/projects/1/repository/commits',
  '/oauth/token',
  '/oauth/revoke',
  '/users/sign_in',
  '/users/password',
  '/projects',
  '/api/v4/runners/verify',
  '/api/v4/jobs/request',
];

export const longestBody = 2 * 1024 * 1024;

export const bodyProbes: Probe[] = bodyDoors.flatMap((url) =>
  Object.entries(shapes).flatMap(([type, of]) =>
    of.map(([start, fragment, end]) => ({
      name: `POST ${url}: ${type}: ${JSON.stringify(start)}${JSON.stringify(fragment)}...`,
      longest: longestBody - 100,
      of: (length: number) => ({
        method: 'POST',
        url,
        type,
        body:
          start +
          fragment.repeat(Math.floor((length - start.length - end.length) / Buffer.byteLength(fragment))) +
          end,
      }),
    })),
  ),
);

/** Fields of OAuth, which has no declarations. */
const formFields: Record<string, string[]> = {
  '/oauth/token': [
    'grant_type',
    'client_id',
    'client_secret',
    'username',
    'password',
    'code',
    'refresh_token',
  ],
  '/oauth/revoke': ['token', 'client_id', 'client_secret'],
  '/oauth/introspect': ['token', 'client_id', 'client_secret'],
};

/** Texts in those forms, as long as a body may be. */
export const formProbes: Probe[] = Object.entries(formFields).flatMap(([url, names]) =>
  names.flatMap((name) =>
    inTokens.map((fragment) => ({
      name: `POST ${url}: ${name}: ${JSON.stringify(fragment)}`,
      longest: longestBody - 1024,
      of: (length: number) => {
        const encoded = encodeURIComponent(fragment);
        const value = encoded.repeat(Math.floor(length / encoded.length));
        const others = names
          .filter((one) => one !== name)
          .map((one) => `${encodeURIComponent(one)}=password`);
        const body = [...others, `${encodeURIComponent(name)}=${value}`].join('&');
        return { method: 'POST', url, type: 'application/x-www-form-urlencoded', body };
      },
    })),
  ),
);
