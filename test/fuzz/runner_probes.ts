/** Requests of runners that repeat a fragment: chunks of a trace, uploads of artifacts, updates and requests of jobs. */
import { type Probe, repeated } from './fragments.ts';

export type RunningJob = { id: number; token: string };

const longest = 512 * 1024;

/** A masked variable of the job, which `aaaa...` nearly contains again and again. */
export const maskedValue = `${'a'.repeat(40)}b`;

const inTraces = [
  'a',
  maskedValue,
  'glpat-',
  '\n',
  '\r',
  '\r\n',
  '\u001b[0K',
  '\u001b[',
  'section_start:1:a\r\u001b[0K',
  'é',
  '\0',
];

/** Appends to the trace, each time where it ends. */
const traceProbes = ({ id, token }: RunningJob): Probe[] => {
  let size = 0;
  return inTraces.map((fragment) => ({
    name: `PATCH trace: ${JSON.stringify(fragment)}`,
    longest,
    of: (length) => {
      const body = Buffer.from(repeated(fragment, length));
      return {
        method: 'PATCH',
        url: `/api/v4/jobs/${id}/trace`,
        type: 'text/plain',
        headers: { 'job-token': token, 'content-range': `${size}-${size + body.length - 1}` },
        body,
        onStatus: (status) => {
          if (status === 202) size += body.length;
        },
      };
    },
  }));
};

const disposition = 'content-disposition: form-data; name="file"; filename=';

/** A start, what is repeated, and an end. */
const forms: [start: string, fragment: string, end: string][] = [
  [`--x\r\n${disposition}"a"\r\n\r\n`, 'a', '\r\n--x--\r\n'],
  [`--x\r\n${disposition}"a"\r\n\r\n`, '\r', '\r\n--x--\r\n'],
  [`--x\r\n${disposition}"a"\r\n\r\n`, '\r\n-', '\r\n--x--\r\n'],
  [`--x\r\n${disposition}"a"\r\n\r\n`, '\r\n--', '\r\n--x--\r\n'],
  [`--x\r\n${disposition}"a"\r\n\r\n`, '\r\n--y', ''],
  [`--x\r\n${disposition}"`, 'a/', '"\r\n\r\na\r\n--x--\r\n'],
  [`--x\r\n${disposition}"`, '\\', '"\r\n\r\na\r\n--x--\r\n'],
  [`--x\r\n${disposition}"a"`, '; a=b', '\r\n\r\na\r\n--x--\r\n'],
  ['', `--x\r\n${disposition}"a"\r\n\r\na\r\n`, '--x--\r\n'],
  ['', '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\na\r\n', '--x--\r\n'],
  ['', '--x\r\n\r\n', '--x--\r\n'],
  ['', '\r\n', '--x--\r\n'],
  ['--x\r\n', 'a: b\r\n', '\r\n\r\n--x--\r\n'],
];

const reports: [type: string, start: string, fragment: string, end: string][] = [
  ['dotenv', '', 'A=b\n', ''],
  ['dotenv', '', 'a', ''],
  ['dotenv', 'A=', '$A', ''],
  ['junit', '<testsuite>', '<testcase name="a"/>', '</testsuite>'],
  ['junit', '', '<testsuite>', ''],
  ['junit', '<testsuite ', 'a="b" ', '/>'],
  ['junit', '<testsuite a="', '&amp;', '"/>'],
  ['junit', '', '<!--', ''],
];

const uploadProbes = ({ id, token }: RunningJob): Probe[] => {
  const upload = (query: string, body: string) => ({
    method: 'POST',
    url: `/api/v4/jobs/${id}/artifacts?${query}`,
    type: 'multipart/form-data; boundary=x',
    headers: { 'job-token': token },
    body,
  });
  const fill = (start: string, fragment: string, length: number): string =>
    start + repeated(fragment, length);
  return [
    ...forms.map(([start, fragment, end]) => ({
      name: `artifacts: ${JSON.stringify(start)}${JSON.stringify(fragment)}...`,
      longest,
      of: (length: number) => upload('artifact_format=raw', fill(start, fragment, length) + end),
    })),
    ...reports.map(([type, start, fragment, end]) => ({
      name: `report ${type}: ${start}${JSON.stringify(fragment)}...`,
      longest,
      of: (length: number) =>
        upload(
          `artifact_type=${type}&artifact_format=raw`,
          `--x\r\n${disposition}"a"\r\n\r\n${fill(start, fragment, length)}${end}\r\n--x--\r\n`,
        ),
    })),
  ];
};

const json = (method: string, url: string, body: object) => ({
  method,
  url,
  type: 'application/json',
  body: JSON.stringify(body),
});

const updateProbes = ({ id, token }: RunningJob): Probe[] =>
  ['trace', 'checksum', 'state', 'failure_reason', 'token'].flatMap((name) =>
    ['a', '\n', maskedValue, 'crc32:', 'é'].map((fragment) => ({
      name: `PUT job: ${name}: ${JSON.stringify(fragment)}`,
      longest,
      of: (length: number) =>
        json('PUT', `/api/v4/jobs/${id}`, { token, state: 'running', [name]: repeated(fragment, length) }),
    })),
  );

/** A request of a job may have 32 KiB. */
const longestRequest = 31 * 1024;

const requestProbes = (runner: string): Probe[] => [
  ...['system_id', 'last_update', 'token'].flatMap((name) =>
    ['a', '-', 'é', '\\', '\0'].map((fragment) => ({
      name: `POST jobs/request: ${name}: ${JSON.stringify(fragment)}`,
      longest: longestRequest / 6,
      of: (length: number) =>
        json('POST', '/api/v4/jobs/request', { token: runner, [name]: repeated(fragment, length) }),
    })),
  ),
  ...['info', 'session'].map((name) => ({
    name: `POST jobs/request: names in ${name}`,
    longest: longestRequest / 12,
    of: (length: number) => {
      const names = Array.from({ length }, (_one, at) => [`a${at}`, 1]);
      const features = Object.fromEntries(names) as object;
      return json('POST', '/api/v4/jobs/request', { token: runner, [name]: { ...features, features } });
    },
  })),
];

/** @param runner the token of one, which has nothing to run */
export const runnerProbes = (job: RunningJob, runner: string): Probe[] => [
  ...traceProbes(job),
  ...uploadProbes(job),
  ...updateProbes(job),
  ...requestProbes(runner),
];
