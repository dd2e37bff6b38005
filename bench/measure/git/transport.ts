/** Measures clone, fetch and push with git over HTTP, compared with git over `file://` in the same run. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { base } from '../../sites/root_api.ts';
import type { Bench } from '../../bench.ts';
import { type Figure, figure } from '../../measured_figures.ts';
import {
  type Site,
  commitAll,
  git,
  gitAside,
  newProject,
  nodesOf,
  prepareSite,
  timed,
  urlOf,
  writeFiles,
} from '../../sites/git_site.ts';
import { cpuSeconds, memoryOf, treeOf } from '../../process_usage.ts';
import { startService } from '../../service.ts';
import { measureCached, measureInfoRefs } from './answers.ts';

/** Megabytes of the large push. */
const large = 300;
const clones = 20;
/** Milliseconds: the service collects garbage two seconds after the last request. */
const untilRest = 4_000;

const rounds = async (number: number, work: (round: number) => Promise<unknown>): Promise<number[]> => {
  const waits: number[] = [];
  for (let round = 0; round < number; round += 1) waits.push(await timed(async () => await work(round)));
  return waits;
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

const measureLargePush = async (site: Site): Promise<Figure[]> => {
  const { bench, folder, server } = site;
  bench.progress(`git: a push of ${large} MB`);
  const tree = join(folder, 'large');
  mkdirSync(tree);
  await git(tree, 'init', '--quiet', '.');
  await git(tree, 'config', 'core.compression', '0');
  // The client must send without compressing the deltas of its files.
  await git(tree, 'config', 'core.bigFileThreshold', '1m');
  writeFiles(tree, large, 30);
  await commitAll(tree, 'Large');
  const url = urlOf(server.port, await newProject(server.port, 'large'));
  // Release the memory of earlier measurements first, so that only the push counts.
  await wait(untilRest);
  const pids = nodesOf(server);
  const most = pids.map(() => 0);
  let isOver = false;
  const watch = async (): Promise<void> => {
    while (!isOver) {
      for (const [at, pid] of pids.entries()) most[at] = Math.max(most[at] ?? 0, rssOf(pid));
      await wait(50);
    }
  };
  const watching = watch();
  const took = await timed(async () => await git(tree, 'push', '--quiet', url, 'HEAD:refs/heads/main'));
  isOver = true;
  await watching;
  return [
    figure(`push of ${large} MB`, 'ms', [took]),
    figure(`push of ${large} MB, service at most`, 'MB', [most[0] ?? NaN], bench.goals.memoryLargePush),
    figure(`push of ${large} MB, gitd at most`, 'MB', [most[1] ?? NaN], bench.goals.memoryLargePush),
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

/** Event loop delay since the last call, in milliseconds. */
const eventLoopDelay = async ({ server, folder }: Site): Promise<number> => {
  const file = eventLoopFile(folder);
  rmSync(file, { force: true });
  process.kill(server.pid, 'SIGUSR2');
  while (!existsSync(file) || readFileSync(file, 'utf8') === '') await wait(10);
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
      await gitAside(folder, 'clone', '--quiet', '--bare', url, to);
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
  const location = await bench.databases.empty();
  const folder = join(location.data, '..');
  // Plain git uses every core. A service pinned to one core would leave the other to the git of the client.
  const server = await startService(location, { everyCore: true, eventLoop: eventLoopFile(folder) });
  try {
    const site = await prepareSite(bench, server, folder);
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
