/** A minimal coordinator for testing runners alone: it hands out the test's jobs and records every request. */
import { spawn } from 'node:child_process';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { crc32, gunzipSync } from 'node:zlib';
import type { Variable } from '../../../runner/coordinator/protocol.ts';

export type OfferedJob = {
  script?: string[];
  after?: string[];
  variables?: Variable[];
  timeout?: number;
  artifacts?: object[];
  cache?: object[];
  dependencies?: object[];
  hooks?: object[];
  image?: object | null;
  services?: object[];
  credentials?: object[];
  project?: number;
  projectKey?: string;
  protected?: boolean;
  /** Clone URL of the project without credentials. */
  host?: string;
  git?: { sha: string; refspecs: string[]; depth: number };
};

/** What the coordinator received about a job. */
export type ReceivedJob = {
  id: number;
  token: string;
  trace: Buffer;
  /** `Content-Range` of each part. */
  ranges: string[];
  uploads: { query: URLSearchParams; filename: string; bytes: Buffer }[];
  /** The last reported state; null before the first. */
  ended: { state: string; failure_reason?: string; exit_code?: number; checksum: string } | null;
  /** Value of the `job-status` header of each response. */
  status: string;
  isTaken: boolean;
};

export type Coordinator = {
  url: string;
  add: (job?: OfferedJob) => ReceivedJob;
  /** Responses of `GET /jobs/:id/artifacts`. */
  files: Map<number, Buffer>;
  /** Handles a request before the coordinator; returns true if it responded. */
  intercept: (before: ((request: IncomingMessage, response: ServerResponse) => boolean) | null) => void;
  /** Closes all connections and accepts none until `open`. */
  shut: () => Promise<void>;
  open: () => Promise<void>;
  /** Serves a bare repository; default path: `/g/p.git`. */
  serve: (repository: string, path?: string) => void;
  close: () => Promise<void>;
};

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const jobBody = ({ id, token }: ReceivedJob, job: OfferedJob, url: string): object => ({
  id,
  token,
  allow_git_fetch: true,
  job_info: {
    name: 'test',
    stage: 'test',
    project_id: job.project ?? 1,
    project_name: 'p',
    project_key: job.projectKey,
  },
  git_info: {
    repo_url: `${(job.host ?? url).replace('//', `//gitlab-ci-token:${token}@`)}/g/p.git`,
    ref: 'main',
    ref_type: 'branch',
    sha: '0'.repeat(40),
    before_sha: '0'.repeat(40),
    refspecs: [],
    depth: 20,
    protected: job.protected ?? false,
    ...job.git,
  },
  runner_info: { timeout: job.timeout ?? 60 },
  variables: [
    { key: 'CI_PROJECT_PATH', value: 'g/p' },
    { key: 'CI_JOB_TOKEN', value: token, masked: true },
    ...(job.git === undefined ? [{ key: 'GIT_STRATEGY', value: 'empty' }] : []),
    ...(job.variables ?? []),
  ],
  steps: [
    { name: 'script', script: job.script ?? ['true'], timeout: 60, when: 'on_success', allow_failure: false },
    ...(job.after === undefined
      ? []
      : [{ name: 'after_script', script: job.after, timeout: 60, when: 'always', allow_failure: true }]),
  ],
  image: job.image ?? null,
  services: job.services ?? [],
  artifacts: job.artifacts ?? null,
  cache: job.cache ?? [],
  dependencies: job.dependencies ?? [],
  hooks: job.hooks ?? [],
  credentials: job.credentials ?? [],
  features: { trace_sections: true, token_mask_prefixes: ['glpat-'] },
});

/** Returns the only part of a multipart body. */
const readPart = (body: Buffer): { filename: string; bytes: Buffer } => {
  const head = body.indexOf('\r\n\r\n');
  const filename = /filename="([^"]*)"/.exec(body.toString('latin1', 0, head))?.[1] ?? '';
  return { filename, bytes: body.subarray(head + 4, body.lastIndexOf('\r\n--')) };
};

const answerGit = async (repository: string, request: IncomingMessage, response: ServerResponse) => {
  if (request.headers.authorization?.startsWith('Basic ') !== true) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="g"' }).end();
    return;
  }
  const isHead = request.method === 'GET';
  const args = ['upload-pack', '--stateless-rpc', ...(isHead ? ['--advertise-refs'] : []), repository];
  const env = { ...process.env, GIT_PROTOCOL: String(request.headers['git-protocol'] ?? '') };
  const child = spawn('git', args, { stdio: ['pipe', 'pipe', 'ignore'], env });
  child.stdin.on('error', () => undefined); // git had read enough
  const kind = isHead ? 'advertisement' : 'result';
  response.writeHead(200, { 'content-type': `application/x-git-upload-pack-${kind}` });
  if (isHead) response.write('001e# service=git-upload-pack\n0000');
  const body = await readBody(request);
  child.stdin.end(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body);
  child.stdout.pipe(response);
};

export const startCoordinator = async (): Promise<Coordinator> => {
  const jobs = new Map<number, { heard: ReceivedJob; job: OfferedJob }>();
  const files = new Map<number, Buffer>();
  let url = '';
  let port = 0;
  const repositories = new Map<string, string>();
  let before: ((request: IncomingMessage, response: ServerResponse) => boolean) | null = null;
  let waiting: (() => void)[] = [];
  let ids = 0;

  const give = async (response: ServerResponse): Promise<void> => {
    const next = (): ReceivedJob | undefined => [...jobs.values()].find(({ heard }) => !heard.isTaken)?.heard;
    if (next() === undefined) {
      await Promise.race([new Promise<void>((resolve) => waiting.push(resolve)), wait(2_000)]);
    }
    const heard = next();
    if (heard === undefined || response.destroyed) {
      response.writeHead(204, { 'x-gitlab-last-update': 'x' }).end();
      return;
    }
    heard.isTaken = true;
    const { job } = jobs.get(heard.id)!;
    response.writeHead(201, { 'content-type': 'application/json', 'x-gitlab-last-update': 'x' });
    response.end(JSON.stringify(jobBody(heard, job, url)));
  };
  const append = (heard: ReceivedJob, range: string, bytes: Buffer): number => {
    const start = Number(range.split('-')[0]);
    heard.ranges.push(range);
    if (start > heard.trace.length) return 416;
    const overlap = heard.trace.length - start;
    if (!heard.trace.subarray(start).equals(bytes.subarray(0, overlap))) return 416;
    heard.trace = Buffer.concat([heard.trace, bytes.subarray(overlap)]);
    return 202;
  };
  const answerJob = async (
    heard: ReceivedJob,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const body = await readBody(request);
    const path = new URL(request.url ?? '', url);
    const say = (status: number, text = '', headers = {}): void =>
      void response.writeHead(status, { 'job-status': heard.status, ...headers }).end(text);
    if (request.headers['job-token'] !== heard.token) return say(403);
    if (request.method === 'PATCH') {
      const status = append(heard, String(request.headers['content-range']), body);
      return say(status, '', { range: `0-${heard.trace.length}`, 'x-gitlab-trace-update-interval': '3' });
    }
    if (request.method === 'PUT') {
      const update = JSON.parse(body.toString()) as { state: string; checksum: string };
      if (update.state === 'running') return say(200, '200');
      const crc = `crc32:${crc32(heard.trace).toString(16).padStart(8, '0')}`;
      if (update.checksum !== crc) return say(412);
      heard.ended = update;
      return say(200, '200');
    }
    if (request.method === 'POST') {
      heard.uploads.push({ query: path.searchParams, ...readPart(body) });
      return say(201, '201');
    }
    const file = files.get(heard.id);
    if (file === undefined) return say(404);
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(file);
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (before?.(request, response) === true) return;
    const path = request.url ?? '';
    const repository = repositories.get(/^.*?\.git(?=\/)/.exec(path)?.[0] ?? '');
    if (repository !== undefined) {
      await answerGit(repository, request, response);
      return;
    }
    if (path.startsWith('/api/v4/jobs/request')) {
      await readBody(request);
      await give(response);
      return;
    }
    const heard = jobs.get(Number(/^\/api\/v4\/jobs\/(\d+)/.exec(path)?.[1]))?.heard;
    if (heard === undefined) response.writeHead(404).end();
    else await answerJob(heard, request, response);
  };
  let server: Server;
  const open = async (): Promise<void> => {
    server = createServer(
      (request, response) => void answer(request, response).catch(() => response.destroy()),
    );
    await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve));
    port = (server.address() as { port: number }).port;
    url = `http://127.0.0.1:${port}`;
  };
  const shut = async (): Promise<void> => {
    for (const wake of waiting.splice(0)) wake();
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  await open();
  return {
    url,
    add: (job = {}) => {
      ids += 1;
      const heard: ReceivedJob = {
        id: ids,
        token: `glcbt-token-of-job-${ids}`,
        trace: Buffer.alloc(0),
        ranges: [],
        uploads: [],
        ended: null,
        status: 'running',
        isTaken: false,
      };
      jobs.set(ids, { heard, job });
      for (const wake of waiting) wake();
      waiting = [];
      return heard;
    },
    files,
    intercept: (next) => void (before = next),
    shut,
    open,
    serve: (repository, path = '/g/p.git') => void repositories.set(path, repository),
    close: shut,
  };
};
