/**
 * A scripted runner: sends exactly the bytes that gitlab-runner 10 and 19 send, without a runner process. The test
 * decides what it sends and when.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { Insertable } from 'kysely';
import { hashToken } from '../../../src/core/access/credentials/token_text.ts';
import type { RunnersTable } from '../../../src/platform/db/schema/runners.ts';
import type { TestService } from '../service.ts';

export type PeerReply = {
  status: number;
  headers: IncomingMessage['headers'];
  /** Parsed JSON; undefined if the body is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
  body: any;
  bytes: Buffer;
};

export type PeerJob = {
  id: number;
  token: string;
  /** The body of the 201. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
  body: any;
  /** The log so far, as this runner recorded it. */
  log: Buffer;
};

type Sent = { headers?: Record<string, string>; body?: string | Buffer };
type Sending = { reply: Promise<PeerReply>; /** Closes the connection at once. */ drop: () => void };

const readReply = async (incoming: IncomingMessage): Promise<PeerReply> => {
  const bytes = Buffer.concat((await incoming.toArray()) as Buffer[]);
  const isJson = /^application\/json\b/.test(incoming.headers['content-type'] ?? '');
  const body: unknown = isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined;
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body, bytes };
};

const send = (agent: Agent, line: { method: string; url: string }, { headers = {}, body }: Sent): Sending => {
  const { promise, resolve, reject } = Promise.withResolvers<PeerReply>();
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const outgoing: ClientRequest = request(
    line.url,
    { method: line.method, agent, headers: { ...headers, ...length } },
    (incoming) => void readReply(incoming).then(resolve, reject),
  );
  outgoing.on('error', reject);
  outgoing.end(body);
  promise.catch(() => undefined);
  return { reply: promise, drop: () => void outgoing.destroy() };
};

export type Generation = 10 | 19;

const versions = { 10: '10.8.0', 19: '19.4.0' } as const;
const agents = {
  10: 'gitlab-runner 10.8.0 (10-8-stable; go1.8.7; linux/amd64)',
  19: 'gitlab-runner 19.4.0 (19-4-stable; go1.25.7; linux/amd64)',
} as const;

const oldFeatures = { variables: true, image: true, services: true, artifacts: true, cache: true };
const newFeatures = {
  ...oldFeatures,
  upload_multiple_artifacts: true,
  upload_raw_artifacts: true,
  multi_build_steps: true,
  session: true,
  refspecs: true,
  masking: true,
  raw_variables: true,
  trace_reset: true,
  trace_checksum: true,
  trace_size: true,
  cancelable: true,
  cancel_gracefully: true,
  return_exit_code: true,
};

const runnerInfo = (generation: Generation) => ({
  name: 'gitlab-runner',
  version: versions[generation],
  revision: '0f1e2d3c',
  platform: 'linux',
  architecture: 'amd64',
  executor: 'shell',
  shell: 'bash',
  features: generation === 10 ? oldFeatures : newFeatures,
});

/** `crc32:` and eight digits. */
export const logChecksum = (log: Buffer): string => `crc32:${crc32(log).toString(16).padStart(8, '0')}`;

/** One part named `file`, in the form of Go's multipart writer, without a length in advance. */
export const multipartForm = (
  bytes: Buffer,
  filename: string,
  field = 'file',
): { type: string; body: Buffer } => {
  const boundary = randomBytes(30).toString('hex');
  const head =
    `--${boundary}\r\nContent-Disposition: form-data; name="${field}"; filename="${filename}"\r\n` +
    'Content-Type: application/octet-stream\r\n\r\n';
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
};

export type Upload = { type?: string; format?: string; filename?: string; expire_in?: string };

export type Peer = {
  token: string;
  /** Sends any request below `/api/v4` in the form of this runner's client. */
  send: (method: string, path: string, sent?: Sent) => Sending;
  /**
   * Requests a job; the caller may abort the waiting connection. Without `last_update`, sends the last value
   * received.
   */
  poll: (options?: { last_update?: string; body?: object }) => Sending;
  /** Requests a job once; null if there is none. */
  request: () => Promise<PeerJob | null>;
  /** Requests jobs until one is returned. */
  take: () => Promise<PeerJob>;
  /** Appends to the log, from the offset at which this runner believes it ends. */
  trace: (job: PeerJob, text: string | Buffer) => Promise<PeerReply>;
  /** Sends a piece of the log with exactly this header. */
  patch: (
    job: Pick<PeerJob, 'id' | 'token'>,
    bytes: string | Buffer,
    range: string | null,
  ) => Promise<PeerReply>;
  update: (job: Pick<PeerJob, 'id' | 'token'>, body: object) => Promise<PeerReply>;
  /** Sends the final state of a job, with everything that this release reports about its log. */
  finish: (
    job: PeerJob,
    state?: 'success' | 'failed',
    options?: { failure_reason?: string; exit_code?: number },
  ) => Promise<PeerReply>;
  upload: (job: Pick<PeerJob, 'id' | 'token'>, bytes: Buffer, options?: Upload) => Promise<PeerReply>;
  /** Downloads the artifacts of a dependency. */
  download: (token: string, dependency: number) => Promise<PeerReply>;
  /** Runs a whole job: log, archive and final state. */
  run: (
    job: PeerJob,
    options?: { log?: string; archive?: Buffer; state?: 'success' | 'failed' },
  ) => Promise<void>;
  close: () => void;
};

const uploadQuery = ({ type, format, expire_in }: Upload): string => {
  const query = new URLSearchParams();
  if (type !== undefined) query.set('artifact_type', type);
  if (format !== undefined) query.set('artifact_format', format);
  if (expire_in !== undefined) query.set('expire_in', expire_in);
  return query.size === 0 ? '' : `?${query}`;
};

const toPeerJob = ({ body }: PeerReply): PeerJob => ({
  id: body.id,
  token: body.token,
  body,
  log: Buffer.alloc(0),
});

/** Longest wait of a test for an expected event, in ms. A passing test never waits this long. */
const takeTimeout = 30_000;

export const makePeer = (
  gantry: Pick<TestService, 'url'>,
  {
    token,
    generation = 19,
    system_id = 's_0123456789ab',
    userAgent = agents[generation],
  }: { token: string; generation?: Generation; system_id?: string; userAgent?: string },
): Peer => {
  const agent = new Agent({ keepAlive: true });
  const isNew = generation === 19;
  const info = runnerInfo(generation);
  let lastUpdate: string | undefined;

  const common = (auth: Record<string, string>): Record<string, string> => ({
    'User-Agent': userAgent,
    ...(isNew && { ...auth, 'X-Request-Id': randomBytes(16).toString('hex') }),
  });
  const call = (method: string, path: string, sent: Sent = {}): Sending =>
    send(agent, { method, url: `${gantry.url}/api/v4${path}` }, sent);
  const json = (body: object, auth: Record<string, string>): Sent => ({
    headers: { ...common(auth), 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify(body),
  });

  const poll: Peer['poll'] = ({ last_update = lastUpdate, body = {} } = {}) => {
    const system = isNew ? { system_id } : {};
    const update = last_update === undefined ? {} : { last_update };
    const sent = { info, token, ...system, ...update, ...body };
    const sending = call('POST', '/jobs/request', json(sent, { 'Runner-Token': token }));
    const reply = sending.reply.then((answer) => {
      const told = answer.headers['x-gitlab-last-update'];
      if (typeof told === 'string') lastUpdate = told;
      return answer;
    });
    reply.catch(() => undefined);
    return { ...sending, reply };
  };
  const ask = async (): Promise<PeerJob | null> => {
    const reply = await poll().reply;
    if (reply.status === 204) return null;
    assert.equal(reply.status, 201, reply.bytes.toString());
    return toPeerJob(reply);
  };
  const patch: Peer['patch'] = async (job, bytes, range) =>
    await call('PATCH', `/jobs/${job.id}/trace${isNew ? '?debug_trace=false' : ''}`, {
      headers: {
        ...common({}),
        'JOB-TOKEN': job.token,
        'Content-Type': 'text/plain',
        ...(range !== null && { 'Content-Range': range }),
      },
      body: bytes,
    }).reply;
  const update: Peer['update'] = async (job, body) =>
    await call(
      'PUT',
      `/jobs/${job.id}`,
      json({ token: job.token, info, ...body }, { 'JOB-TOKEN': job.token }),
    ).reply;
  const trace: Peer['trace'] = async (job, text) => {
    const bytes = Buffer.from(text);
    const start = job.log.length;
    // Old releases send the offset after the last byte.
    const end = start + bytes.length - (isNew ? 1 : 0);
    const reply = await patch(job, bytes, `${start}-${end}`);
    if (reply.status === 202) job.log = Buffer.concat([job.log, bytes]);
    return reply;
  };
  const finish: Peer['finish'] = async (job, state = 'success', options = {}) => {
    const checksum = logChecksum(job.log);
    const ofLog = isNew
      ? { checksum, output: { checksum, bytesize: job.log.length } }
      : { trace: job.log.toString('utf8') };
    return await update(job, { state, ...ofLog, ...options });
  };
  const upload: Peer['upload'] = async (job, bytes, options = {}) => {
    const { type, body } = multipartForm(bytes, options.filename ?? 'artifacts.zip');
    const headers = { ...common({}), 'JOB-TOKEN': job.token, 'Content-Type': type };
    return await call('POST', `/jobs/${job.id}/artifacts${uploadQuery(options)}`, { headers, body }).reply;
  };
  return {
    token,
    send: call,
    poll,
    request: ask,
    take: async () => {
      const end = Date.now() + takeTimeout;
      for (;;) {
        const job = await ask();
        if (job !== null) return job;
        assert.ok(Date.now() < end, 'no job came');
        await wait(5);
      }
    },
    trace,
    patch,
    update,
    finish,
    upload,
    download: async (jobToken, dependency) =>
      await call('GET', `/jobs/${dependency}/artifacts${isNew ? '?direct_download=true' : ''}`, {
        headers: { ...common({}), 'JOB-TOKEN': jobToken },
      }).reply,
    run: async (job, { log = 'done\n', archive, state = 'success' } = {}) => {
      const traced = await trace(job, log);
      assert.equal(traced.status, 202, traced.bytes.toString());
      if (archive !== undefined) {
        const kept = await upload(job, archive, isNew ? { type: 'archive', format: 'zip' } : {});
        assert.equal(kept.status, 201, kept.bytes.toString());
      }
      const ended = await finish(job, state, state === 'failed' ? { failure_reason: 'script_failure' } : {});
      assert.equal(ended.status, 200, ended.bytes.toString());
    },
    close: () => agent.destroy(),
  };
};

export type SeededRunner = { id: number; token: string };

type RunnerSeed = Partial<
  Pick<
    Insertable<RunnersTable>,
    'runner_type' | 'active' | 'locked' | 'run_untagged' | 'access_level' | 'maximum_timeout'
  >
> & {
  tags?: string[];
  /** Ids: the projects of a project runner, the group of a group runner. */
  projects?: number[];
  groups?: number[];
};

/** Inserts a runner directly into the store; an instance runner by default. */
export const seedRunner = async (gantry: TestService, seed: RunnerSeed = {}): Promise<SeededRunner> => {
  const { tags = [], projects = [], groups = [], ...columns } = seed;
  const token = `glrt-${randomBytes(15).toString('base64url')}`;
  const id = await gantry.service.platform.store.write(async ({ db, now }) => {
    const times = { contacted_at: null, created_at: now, updated_at: now };
    const none = { description: null, maintenance_note: null, maximum_timeout: null, creator_id: null };
    const hash = { token_hash: hashToken(token), token_start: token.slice(0, 8) };
    const tag_list = JSON.stringify(tags.toSorted());
    const row = await db
      .insertInto('runners')
      .values({ runner_type: 'instance_type', tag_list, ...hash, ...none, ...times, ...columns })
      .returning('id')
      .executeTakeFirstOrThrow();
    const links = projects.map((project_id) => ({ runner_id: row.id, project_id }));
    if (links.length > 0) await db.insertInto('runner_projects').values(links).execute();
    const above = groups.map((namespace_id) => ({ runner_id: row.id, namespace_id }));
    if (above.length > 0) await db.insertInto('runner_groups').values(above).execute();
    return row.id;
  });
  return { id, token };
};
