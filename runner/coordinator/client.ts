/** Client of the coordinator's API for runners. */
import type { IncomingMessage } from 'node:http';
import type { Writable } from 'node:stream';
import { type Reply, type Send, makeSend, persist } from './http.ts';
import type { Job, Outcome } from './protocol.ts';

/** Facts about the runner, sent with each request. */
export type RunnerInfo = {
  name: string;
  version: string;
  platform: string;
  architecture: string;
  executor: string;
  shell: string;
  features: Record<string, boolean>;
};

export const describeRunner = (version: string, executor: string): RunnerInfo => ({
  name: 'gantry-runner',
  version,
  platform: process.platform,
  architecture: process.arch === 'x64' ? 'amd64' : process.arch,
  executor,
  shell: 'bash',
  features: Object.fromEntries(
    [
      ...'variables artifacts cache fallback_cache_keys upload_multiple_artifacts'.split(' '),
      ...'upload_raw_artifacts artifacts_exclude multi_build_steps refspecs masking'.split(' '),
      ...'raw_variables trace_reset trace_checksum trace_size return_exit_code'.split(' '),
      'cancelable',
      'cancel_gracefully',
      ...(executor.includes('container')
        ? 'image services service_variables service_multiple_aliases image_executor_opts service_executor_opts'.split(
            ' ',
          )
        : []),
    ].map((feature) => [feature, true]),
  ),
});

/** The coordinator's verdict on a job, in each answer to an update. */
export type Verdict = {
  status: number;
  /** `canceling`: the script is stopped, later steps run; `canceled`, `failed`: the whole job must stop. */
  job: string | null;
  /** Bytes of the log that have arrived. */
  size: number | null;
  /** Seconds between two parts of the log. */
  interval: number | null;
};

export type Upload = {
  type: string;
  format: string;
  expire_in: string | null;
  filename: string;
  write: (out: Writable) => Promise<void>;
};

export type Checksum = { crc: number; size: number };

export type JobClient = {
  /** Appends bytes to the log of the job. @throws if there is no answer */
  appendTrace: (offset: number, bytes: Buffer, signal: AbortSignal) => Promise<Verdict>;
  keepAlive: (signal: AbortSignal) => Promise<Verdict>;
  /**
   * Reports the outcome of the job.
   * @param retryFor milliseconds for which the request is retried
   */
  finish: (outcome: Outcome, trace: Checksum, retryFor: number) => Promise<Verdict>;
  upload: (upload: Upload, signal: AbortSignal) => Promise<Reply>;
  download: (
    from: { id: number; token: string },
    into: (body: IncomingMessage) => Promise<void>,
    signal: AbortSignal,
  ) => Promise<Reply>;
};

export type Client = {
  verify: () => Promise<Reply>;
  /**
   * Polls for a job, as long as the coordinator holds the request. `quick`: poll again immediately.
   * @throws if there is no answer
   */
  requestJob: (signal: AbortSignal) => Promise<{ job: Job | null; status: number; quick: boolean }>;
  ofJob: (id: number, token: string) => JobClient;
  close: () => void;
};

const getHeader = ({ headers }: Reply, name: string): string | null => {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
};

const parseVerdict = (reply: Reply): Verdict => {
  const range = /^\d+-(\d+)$/.exec(getHeader(reply, 'range') ?? '');
  const interval = Number(getHeader(reply, 'x-gitlab-trace-update-interval') ?? Number.NaN);
  return {
    status: reply.status,
    job: getHeader(reply, 'job-status'),
    size: range === null ? null : Number(range[1]),
    interval: Number.isFinite(interval) && interval > 0 ? interval : null,
  };
};

const json = (value: unknown) => ({
  headers: { 'content-type': 'application/json', accept: 'application/json' },
  body: JSON.stringify(value),
});

const crcText = (crc: number): string => `crc32:${crc.toString(16).padStart(8, '0')}`;

/** Milliseconds of retries after which an artifact is given up. */
const transferTimeout = 60_000;

const multipart = (filename: string, write: Upload['write']) => {
  const boundary = crypto.randomUUID();
  const name = filename.replaceAll(/["\\\r\n]/g, '_');
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: async (out: Writable) => {
      const head = `content-disposition: form-data; name="file"; filename="${name}"`;
      out.write(`--${boundary}\r\n${head}\r\ncontent-type: application/octet-stream\r\n\r\n`);
      await write(out);
      out.end(`\r\n--${boundary}--\r\n`);
    },
  };
};

export type ClientParts = {
  url: string;
  token: string;
  system_id: string;
  about: RunnerInfo;
  version: string;
};

const withHeaders = (call: ReturnType<typeof json>, more: Record<string, string>) => ({
  ...call,
  headers: { ...call.headers, ...more },
});

type OfJob = { send: Send; id: number; token: string; common: object };

const uploadOnce = async (
  { send, id, token }: OfJob,
  upload: Upload,
  signal: AbortSignal,
): Promise<Reply> => {
  const { type, format, expire_in, filename, write } = upload;
  const query = new URLSearchParams({ artifact_type: type, artifact_format: format });
  if (expire_in !== null) query.set('expire_in', expire_in);
  const { headers, body } = multipart(filename, write);
  const path = `/jobs/${id}/artifacts?${query.toString()}`;
  return await send({ method: 'POST', path, headers: { ...headers, 'job-token': token }, body, signal });
};

const makeJobClient = (of: OfJob): JobClient => {
  const { send, id, token, common } = of;
  const mine = { 'job-token': token };
  const update = (more: object) => withHeaders(json({ token, ...common, ...more }), mine);
  const path = `/jobs/${id}`;
  return {
    appendTrace: async (offset, bytes, signal) => {
      const range = `${offset}-${offset + bytes.length - 1}`;
      const headers = { ...mine, 'content-type': 'text/plain', 'content-range': range };
      const call = {
        method: 'PATCH',
        path: `${path}/trace?debug_trace=false`,
        headers,
        body: bytes,
      } as const;
      return parseVerdict(await send({ ...call, signal }));
    },
    keepAlive: async (signal) =>
      parseVerdict(await send({ method: 'PUT', path, ...update({ state: 'running' }), signal })),
    finish: async (outcome, { crc, size }, retryFor) => {
      const checksum = crcText(crc);
      const body = { ...outcome, checksum, output: { checksum, bytesize: size } };
      const call = { method: 'PUT', path, ...update(body) } as const;
      return parseVerdict(await persist(async () => await send(call), { timeout: retryFor }));
    },
    upload: async (upload, signal) =>
      await persist(async () => await uploadOnce(of, upload, signal), { timeout: transferTimeout, signal }),
    download: async (from, into, signal) => {
      const path = `/jobs/${from.id}/artifacts?direct_download=false`;
      const call = { method: 'GET', path, headers: { 'job-token': from.token }, into, signal } as const;
      return await persist(async () => await send(call), { timeout: transferTimeout, signal });
    },
  };
};

export const makeClient = ({ url, token, system_id, about, version }: ClientParts): Client => {
  const { send: bare, close } = makeSend(url);
  const send: Send = async (call) => {
    const request = crypto.randomUUID().replaceAll('-', '');
    const headers = { ...call.headers, 'user-agent': `gantry-runner ${version}`, 'x-request-id': request };
    return await bare({ ...call, headers });
  };
  const common = { system_id, info: about };
  const mine = { 'runner-token': token };
  let lastUpdate: string | null = null;
  return {
    verify: async () => {
      const call = withHeaders(json({ token, ...common }), mine);
      return await send({ method: 'POST', path: '/runners/verify', ...call });
    },
    requestJob: async (signal) => {
      const call = withHeaders(json({ token, ...common, last_update: lastUpdate ?? '' }), mine);
      const reply = await send({ method: 'POST', path: '/jobs/request', ...call, silence: 90, signal });
      const next = getHeader(reply, 'x-gitlab-last-update');
      const quick = next !== null && next !== lastUpdate;
      lastUpdate = next ?? lastUpdate;
      const job = reply.status === 201 ? (JSON.parse(reply.body.toString()) as Job) : null;
      return { job, status: reply.status, quick };
    },
    ofJob: (id, token) => makeJobClient({ send, id, token, common }),
    close,
  };
};
