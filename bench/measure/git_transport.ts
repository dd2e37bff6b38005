/** Clone, fetch and push with git itself over HTTP, beside plain git over `file://` in the same run. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gitEnvironment } from '../../test/support/git.ts';
import { api, base } from '../api.ts';
import type { Bench } from '../bench.ts';
import { type Figure, figure, percentile } from '../figures.ts';
import { cpuSeconds, memoryOf, ownCpuSeconds, treeOf } from '../process.ts';
import { type Running, rootToken, startService } from '../service.ts';

const run = promisify(execFile);

/** Megabytes of files in the repository, and of the large push. */
const size = { usual: 15, large: 300 };
const files = 150;
const clones = 20;

const git = async (cwd: string, ...args: string[]): Promise<string> => {
  const options = { cwd, env: gitEnvironment(), maxBuffer: 2 ** 26 };
  return (await run('git', args, options)).stdout.trim();
};

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

const rounds = async (number: number, work: (round: number) => Promise<unknown>): Promise<number[]> => {
  const waits: number[] = [];
  for (let round = 0; round < number; round += 1) waits.push(await timed(async () => await work(round)));
  return waits;
};

type Site = {
  bench: Bench;
  server: Running;
  folder: string;
  tree: string;
  /** With a token in it. */
  url: string;
  path: string;
  /** The same repository as plain git has it. */
  bare: string;
};

const newProject = async (port: number, name: string): Promise<string> =>
  (await api<{ path_with_namespace: string }>(port, 'POST /projects', { name, visibility: 'public' }))
    .path_with_namespace;

const urlOf = (port: number, path: string): string => `http://x:${rootToken}@127.0.0.1:${port}/${path}.git`;

/** Half of a file's bytes repeat, as those of sources do. */
const writeFiles = (tree: string, megabytes: number, number: number): void => {
  const each = (megabytes * 1e6) / number;
  for (let at = 0; at < number; at += 1) {
    const folder = join(tree, `folder-${at % 10}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `file-${at}.txt`), randomBytes(each));
  }
};

const commitAll = async (tree: string, message: string): Promise<void> => {
  await git(tree, 'add', '--all');
  await git(tree, 'commit', '--quiet', '--message', message);
};

const prepare = async (bench: Bench, server: Running, folder: string): Promise<Site> => {
  bench.progress('git: making a repository');
  const [tree, bare] = [join(folder, 'tree'), join(folder, 'plain.git')];
  mkdirSync(tree);
  await git(tree, 'init', '--quiet', '.');
  await git(tree, 'config', 'core.compression', '0');
  writeFiles(tree, size.usual, files);
  await commitAll(tree, 'First');
  const path = await newProject(server.port, 'usual');
  const url = urlOf(server.port, path);
  await git(tree, 'push', '--quiet', url, 'HEAD:refs/heads/main');
  await git(folder, 'clone', '--quiet', '--bare', `file://${tree}`, bare);
  return { bench, server, folder, tree, url, path, bare };
};

const measurePushes = async ({ bench, tree, url, bare }: Site): Promise<Figure[]> => {
  const push = (to: string) => async (round: number) =>
    await git(tree, 'push', '--quiet', to, `HEAD:refs/heads/pushed-${round}`);
  const number = bench.rounds * 2;
  bench.progress('git: pushes of one commit');
  const [service, plain]: [number[], number[]] = [[], []];
  for (let round = 0; round < number; round += 1) {
    writeFileSync(join(tree, 'changed.txt'), `${round}`);
    await commitAll(tree, `Change ${round}`);
    // In turn, so that a busy moment is bad for both.
    service.push(await timed(async () => await push(url)(round)));
    plain.push(await timed(async () => await push(`file://${bare}`)(round)));
  }
  return [
    figure('push of one commit', 'ms', service, bench.goals.pushOne),
    figure('push of one commit, plain git over file://', 'ms', plain),
  ];
};

/** Milliseconds until the first byte of the answer, and until the last. */
const ask = async (
  { server, path }: Site,
  rest: string,
  body: Buffer | null,
): Promise<{ first: number; last: number; bytes: number }> => {
  const began = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request(`${base(server.port)}/${path}.git/${rest}`, {
    method: body === null ? 'GET' : 'POST',
    headers: {
      'git-protocol': 'version=2',
      ...(body !== null && { 'content-type': 'application/x-git-upload-pack-request' }),
    },
  });
  sent.on('response', resolve).on('error', reject).end(body);
  const response = await promise;
  if (response.statusCode !== 200) throw new Error(`${rest} answered ${response.statusCode}`);
  let [bytes, first] = [0, 0];
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (bytes === 0) first = performance.now() - began;
    bytes += chunk.length;
  }
  return { first, last: performance.now() - began, bytes };
};

const packet = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text;

/** What asks for all that leads to a commit, as a clone does. */
const wanting = (id: string): Buffer => {
  const lines = [packet('command=fetch'), packet('object-format=sha1'), '0001'];
  return Buffer.from(
    [...lines, packet('no-progress'), packet(`want ${id}`), packet('done'), '0000'].join(''),
  );
};

const measureInfoRefs = async (site: Site): Promise<Figure[]> => {
  const { bench, server } = site;
  bench.progress('git: info/refs');
  const number = bench.rounds * 40;
  const before = cpuSeconds([server.pid]);
  const refs: number[] = [];
  for (let at = 0; at < number; at += 1)
    refs.push((await ask(site, 'info/refs?service=git-upload-pack', null)).last);
  const cpu = ((cpuSeconds([server.pid]) - before) / number) * 1e6;
  refs.sort((a, b) => a - b);
  return [
    figure('info/refs', 'ms', [percentile(refs, 0.5)], bench.goals.infoRefs),
    figure('info/refs, CPU', 'µs', [cpu]),
  ];
};

/** A branch with a history of its own, of one megabyte. */
const pushSmall = async ({ folder, url }: Site): Promise<string> => {
  const small = join(folder, 'small');
  mkdirSync(small);
  await git(small, 'init', '--quiet', '.');
  writeFiles(small, 1, 10);
  await commitAll(small, 'Small');
  await git(small, 'push', '--quiet', url, 'HEAD:refs/heads/small');
  return await git(small, 'rev-parse', 'HEAD');
};

const measureCached = async (site: Site): Promise<Figure[]> => {
  const { bench, tree, server } = site;
  bench.progress('git: clones from the cache');
  const small = wanting(await pushSmall(site));
  await ask(site, 'git-upload-pack', small);
  const number = bench.rounds * 40;
  const before = ownCpuSeconds(server.pid);
  for (let at = 0; at < number; at += 1) await ask(site, 'git-upload-pack', small);
  const cpu = ((ownCpuSeconds(server.pid) - before) / number) * 1e3;
  const body = wanting(await git(tree, 'rev-parse', 'pushed'));
  await ask(site, 'git-upload-pack', body);
  const answers = [];
  for (let at = 0; at < bench.rounds * 4; at += 1) answers.push(await ask(site, 'git-upload-pack', body));
  const megabytes = (answers[0]?.bytes ?? 0) / 1e6;
  return [
    figure(
      'clone of 1 MB from the pack cache, CPU of the service and gitd',
      'ms',
      [cpu],
      bench.goals.cachedClone,
    ),
    figure(
      `clone of ${megabytes.toFixed(1)} MB from the pack cache, until its first byte`,
      'ms',
      answers.map(({ first }) => first),
    ),
    figure(
      `clone of ${megabytes.toFixed(1)} MB from the pack cache`,
      'ms',
      answers.map(({ last }) => last),
    ),
  ];
};

const measureClones = async (site: Site): Promise<Figure[]> => {
  const { bench, folder, url, bare, server } = site;
  const clone = async (from: string, name: string): Promise<string> =>
    await git(folder, 'clone', '--quiet', '--bare', from, join(folder, name));
  bench.progress('git: clones');
  const one = await rounds(bench.rounds, async (round) => await clone(url, `one-${round}`));
  const plain = await rounds(bench.rounds, async (round) => await clone(`file://${bare}`, `plain-${round}`));
  const many = async (from: string, name: string): Promise<number> =>
    await timed(
      async () =>
        await Promise.all(
          Array.from({ length: clones }, async (_n, at) => await clone(from, `${name}-${at}`)),
        ),
    );
  const [service] = treeOf(server.pid);
  const before = cpuSeconds([server.pid]);
  const together = await many(url, 'many');
  const cpu = (cpuSeconds([service ?? server.pid]) - before) * 1000;
  const plainTogether = await many(`file://${bare}`, 'plain-many');
  return [
    figure('clone', 'ms', one),
    figure('clone, plain git over file://', 'ms', plain),
    figure(`${clones} clones at once`, 'ms', [together]),
    figure(`${clones} clones at once, plain git over file://`, 'ms', [plainTogether]),
    figure(`${clones} clones at once, CPU of the service and its git`, 'ms', [cpu], bench.goals.manyClones),
  ];
};

/** The service and gitd, without the git processes that come and go. */
const nodesOf = (server: Running): number[] => treeOf(server.pid).slice(0, 2);

const measureLargePush = async (site: Site): Promise<Figure[]> => {
  const { bench, folder, server } = site;
  bench.progress(`git: a push of ${size.large} MB`);
  const tree = join(folder, 'large');
  mkdirSync(tree);
  await git(tree, 'init', '--quiet', '.');
  await git(tree, 'config', 'core.compression', '0');
  // The client shall send, not look for what its files have in common.
  await git(tree, 'config', 'core.bigFileThreshold', '1m');
  writeFiles(tree, size.large, 30);
  await commitAll(tree, 'Large');
  const url = urlOf(server.port, await newProject(server.port, 'large'));
  const pids = nodesOf(server);
  const most = pids.map(() => 0);
  let isOver = false;
  const watch = async (): Promise<void> => {
    while (!isOver) {
      for (const [at, pid] of pids.entries()) most[at] = Math.max(most[at] ?? 0, rssOf(pid));
      await pause(50);
    }
  };
  const watching = watch();
  const took = await timed(async () => await git(tree, 'push', '--quiet', url, 'HEAD:refs/heads/main'));
  isOver = true;
  await watching;
  return [
    figure(`push of ${size.large} MB`, 'ms', [took]),
    figure(`push of ${size.large} MB, service at most`, 'MB', [most[0] ?? NaN], bench.goals.memoryLargePush),
    figure(`push of ${size.large} MB, gitd at most`, 'MB', [most[1] ?? NaN], bench.goals.memoryLargePush),
  ];
};

/** Of one process alone. */
const rssOf = (pid: number): number => {
  try {
    return memoryOf(pid, false).rss;
  } catch {
    return 0; // it ended meanwhile
  }
};

/** Git jobs that run at once while the event loop is watched, and for how long, in ms. */
const jobs = 8;
const watched = 10_000;

const eventLoopFile = (folder: string): string => join(folder, 'event_loop');

/** How late it was since this was last asked, in ms. */
const eventLoopDelay = async ({ server, folder }: Site): Promise<number> => {
  const file = eventLoopFile(folder);
  rmSync(file, { force: true });
  process.kill(server.pid, 'SIGUSR2');
  while (!existsSync(file) || readFileSync(file, 'utf8') === '') await pause(10);
  return Number(readFileSync(file, 'utf8'));
};

/** Clones, and comparisons over the API, by turns. */
const measureEventLoop = async (site: Site): Promise<Figure[]> => {
  const { bench, folder, url, path, server } = site;
  bench.progress(`git: ${jobs} jobs at once`);
  const compare = `${base(server.port)}/api/v4/projects/${encodeURIComponent(path)}/repository/compare`;
  const job = async (at: number): Promise<void> => {
    if (at % 2 === 0) {
      const to = join(folder, `watched-${at}`);
      await git(folder, 'clone', '--quiet', '--bare', url, to);
      rmSync(to, { recursive: true });
      return;
    }
    const answer = await fetch(`${compare}?from=main&to=pushed-0`);
    if (answer.status !== 200) throw new Error(`the comparison answered ${answer.status}`);
    await answer.arrayBuffer();
  };
  await eventLoopDelay(site);
  const until = performance.now() + watched;
  const worker = async (at: number): Promise<void> => {
    while (performance.now() < until) await job(at);
  };
  await Promise.all(Array.from({ length: jobs }, async (_none, at) => await worker(at)));
  const late = await eventLoopDelay(site);
  return [figure(`event loop's delay under ${jobs} git jobs, p95`, 'ms', [late], bench.goals.eventLoop)];
};

export const measureGitTransport = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('transport')) return [];
  const place = await bench.databases.empty();
  const folder = join(place.data, '..');
  // A pusher's git has the other core to itself where the service is held on one, which plain git is not.
  const server = await startService(place, { everyCore: true, eventLoop: eventLoopFile(folder) });
  try {
    const site = await prepare(bench, server, folder);
    const pushes = await measurePushes(site);
    await git(site.tree, 'branch', 'pushed');
    const answers = [...(await measureInfoRefs(site)), ...(await measureCached(site))];
    const fetched = await measureClones(site);
    const delays = await measureEventLoop(site);
    return [...pushes, ...answers, ...fetched, ...delays, ...(await measureLargePush(site))];
  } finally {
    await server.stop();
  }
};
