/** A git server over HTTP: git's own `http-backend`, with Basic authentication, and answers that a test chooses. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { git, gitEnvironment } from '../repositories/git.ts';

export type GitServer = {
  url: string;
  /** Folder of the bare repositories. */
  root: string;
  /** Requested paths with their `Authorization`. */
  requests: { path: string; authorization: string | undefined }[];
  /** Creates a bare repository with a commit on `main`. @returns its folder */
  create: (name: string) => Promise<string>;
  /** Requires this user name and password; null: none. */
  protect: (credentials: { username: string; password: string } | null) => void;
  /** Answers a request before git does, if it returns true. */
  intercept: (answer: ((request: IncomingMessage, response: ServerResponse) => boolean) | null) => void;
  close: () => Promise<void>;
};

/** Forwards the answer of the CGI program: its headers, then its body. */
const forward = (answer: AsyncIterable<Buffer>, response: ServerResponse): void => {
  const run = async (): Promise<void> => {
    let head = Buffer.alloc(0);
    let isBody = false;
    for await (const chunk of answer) {
      if (isBody) {
        response.write(chunk);
        continue;
      }
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) continue;
      isBody = true;
      for (const line of head.toString('latin1', 0, end).split('\r\n')) {
        const [, name = '', value = ''] = /^([^:]+): *(.*)$/.exec(line) ?? [];
        if (name.toLowerCase() === 'status') response.statusCode = Number(value.slice(0, 3));
        else response.setHeader(name, value);
      }
      response.write(head.subarray(end + 4));
    }
    response.end();
  };
  run().catch(() => response.destroy());
};

const serve = (root: string, request: IncomingMessage, response: ServerResponse): void => {
  const { pathname, search } = new URL(request.url ?? '/', 'http://server');
  const backend = spawn('git', ['http-backend'], {
    env: gitEnvironment({
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method ?? 'GET',
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      CONTENT_LENGTH: request.headers['content-length'] ?? '',
    }),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  backend.stdin.on('error', () => undefined);
  request.pipe(backend.stdin);
  response.on('close', () => backend.kill());
  forward(backend.stdout as AsyncIterable<Buffer>, response);
};

/** Creates a bare repository with a commit on `main`. */
const createRepository = async (root: string, name: string): Promise<string> => {
  const dir = join(root, name);
  await git(root, 'init', '--quiet', '--bare', dir);
  const tree = await git(dir, 'hash-object', '-t', 'tree', '-w', '/dev/null');
  const commit = await git(dir, 'commit-tree', '-m', 'First', tree);
  await git(dir, 'update-ref', 'refs/heads/main', commit);
  return dir;
};

const authorizationOf = ({ username, password }: { username: string; password: string }): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

export const startGitServer = async (): Promise<GitServer> => {
  const root = await mkdtemp(join(tmpdir(), 'gantry-git-server-'));
  const requests: GitServer['requests'] = [];
  let required: string | null = null;
  let intercept: Parameters<GitServer['intercept']>[0] = null;
  const server = createServer((request, response) => {
    const { authorization } = request.headers;
    requests.push({ path: request.url ?? '', authorization });
    if (intercept?.(request, response) === true) return;
    if (required === null || authorization === required) serve(root, request, response);
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('no');
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    root,
    requests,
    create: async (name) => await createRepository(root, name),
    protect: (credentials) => void (required = credentials === null ? null : authorizationOf(credentials)),
    intercept: (answer) => void (intercept = answer),
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      await rm(root, { recursive: true, force: true });
    },
  };
};
