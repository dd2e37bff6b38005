/**
 * Measures the load of ten thousand users: 200 calls of the API, 20 pages, 20 fetches and 4 pushes a second. Requests
 * leave at their times whether or not the ones before were answered. The generators share the cores with the service.
 */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Bench, usualSize } from '../bench.ts';
import type { CheckedRequest } from '../load/load_job.ts';
import { type Figure, figure, percentile } from '../measured_figures.ts';
import { type Running, startService } from '../service.ts';
import { git } from '../sites/git_site.ts';
import { signIn } from '../sites/pages.ts';
import { base } from '../sites/root_api.ts';
import { codePaths, planningPaths, prepareRecords, prepareSite, writePaths } from './paths.ts';
import {
  fetching,
  listing,
  prepare as prepareRepository,
  send,
  type Site as Repository,
} from './git/paths.ts';

/** Per second, at the whole profile. */
const rates = { calls: 200, pages: 20, fetches: 20, pushes: 4 };
/** Of the calls of the API, one in so many writes. */
const writeShare = 10;
/** Milliseconds at the most for nine of ten calls: at the whole profile, and at the highest multiple. */
const [atOnce, atMost] = [50, 100];
const multiples = [1, 1.25, 1.5, 2, 2.5, 3, 4, 6];

type Site = {
  server: Running;
  token: string;
  calls: CheckedRequest[];
  pages: string[];
  cookie: string;
  repository: Repository;
};

/** Milliseconds of each answer, ascending, and how many were due and refused. */
type Served = { due: number; refused: number; latencies: number[] };
type Profile = { [Kind in keyof typeof rates]: Served };

/** Mixes the paths so that one in `writeShare` writes. */
const mix = (reads: readonly CheckedRequest[], writes: readonly CheckedRequest[]): CheckedRequest[] =>
  Array.from({ length: reads.length * writeShare }, (_none, at) => {
    const from = at % writeShare === 0 ? writes : reads;
    return from[at % from.length];
  }).filter((one) => one !== undefined);

const prepareSiteOf = async (bench: Bench): Promise<Site> => {
  const { place: location, world } = await bench.databases.take(usualSize);
  bench.progress('profile: making records and a repository');
  const iids = await prepareRecords(location, world);
  const server = await startService(location, { everyCore: true });
  const site = await prepareSite(location, server.port, { world, iids });
  const first = (paths: { requests: CheckedRequest[] }[]): CheckedRequest[] =>
    paths.flatMap(({ requests }) => requests.slice(0, 20));
  const code = '/root/with-code';
  return {
    server,
    token: world.developer.token,
    calls: mix(first([...planningPaths(site), ...codePaths(site)]), first(writePaths(site))),
    pages: [
      '/',
      code,
      `${code}/-/tree/main`,
      `${code}/-/commits/main`,
      `${code}/-/branches`,
      `${code}/-/merge_requests`,
    ],
    cookie: await signIn(server.port),
    repository: await prepareRepository(server, join(location.data, '..')),
  };
};

/** Calls `once` at a rate for some seconds. */
const openLoop = async (
  rate: number,
  seconds: number,
  once: (at: number) => Promise<void>,
): Promise<Served> => {
  const begin = performance.now() + 20;
  const due = Math.round(rate * seconds);
  const latencies: number[] = [];
  let refused = 0;
  const one = async (at: number): Promise<void> => {
    const time = begin + (at * 1000) / rate;
    await wait(Math.max(0, time - performance.now()));
    await once(at).catch(() => (refused += 1));
    latencies.push(performance.now() - time);
  };
  await Promise.all(Array.from({ length: due }, async (_none, at) => await one(at)));
  return { due, refused, latencies: latencies.toSorted((a, b) => a - b) };
};

const readPage = async ({ server, pages, cookie }: Site, at: number): Promise<void> => {
  const path = pages[at % pages.length] ?? '/';
  const response = await fetch(`${base(server.port)}${path}`, { headers: { cookie, accept: 'text/html' } });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
};

/** Does what `git fetch` asks for: the refs, and the objects of one commit. */
const fetchCommit = async ({ repository }: Site, at: number): Promise<void> => {
  const { ids } = repository;
  const want = at % (ids.length - 1);
  await send(repository, 'info/refs?service=git-upload-pack');
  await send(repository, 'git-upload-pack', listing);
  await send(repository, 'git-upload-pack', fetching(ids[want] ?? '', ids[want + 1]));
};

let pushed = 0;

const push = async ({ repository: { tree, url, ids } }: Site): Promise<void> => {
  pushed += 1;
  const id = await git(tree, 'commit-tree', '-p', ids[0] ?? '', '-m', `Push ${pushed}`, `${ids[0]}^{tree}`);
  await git(tree, 'push', '--quiet', url, `${id}:refs/heads/pushed-${pushed}`);
};

const runProfile = async (bench: Bench, site: Site, multiple: number, seconds: number): Promise<Profile> => {
  const job = { port: site.server.port, token: site.token, requests: site.calls };
  const rate = rates.calls * multiple;
  const [calls, pages, fetches, pushes] = await Promise.all([
    bench.loader.run({ kind: 'open', job, rate, seconds, countsWrong: true }),
    openLoop(rates.pages * multiple, seconds, async (at) => await readPage(site, at)),
    openLoop(rates.fetches * multiple, seconds, async (at) => await fetchCommit(site, at)),
    openLoop(rates.pushes * multiple, seconds, async () => await push(site)),
  ]);
  const { latencies, wrongCount } = calls;
  return { calls: { due: latencies.length, refused: wrongCount, latencies }, pages, fetches, pushes };
};

const figuresOf = (profile: Profile): Figure[] =>
  Object.entries(profile).flatMap(([kind, { due, refused, latencies }]) => [
    figure(`profile: ${kind}, p50`, 'ms', [percentile(latencies, 0.5)]),
    figure(
      `profile: ${kind}, p90`,
      'ms',
      [percentile(latencies, 0.9)],
      kind === 'pushes' ? {} : { goal: atOnce },
    ),
    figure(`profile: ${kind}, refused or failed of ${due}`, 'times', [refused], { goal: 0 }),
  ]);

export const measureProfile = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('profile')) return [];
  const seconds = bench.rounds > 3 ? 60 : 15;
  const site = await prepareSiteOf(bench);
  try {
    await runProfile(bench, site, 0.5, 5);
    let highest = 0;
    let figures: Figure[] = [];
    for (const multiple of multiples) {
      bench.progress(`profile: ${multiple} times the load for ${seconds} s`);
      const profile = await runProfile(bench, site, multiple, seconds);
      if (multiple === 1) figures = figuresOf(profile);
      if (percentile(profile.calls.latencies, 0.9) > atMost) break;
      highest = multiple;
    }
    const name = `profile: highest multiple with calls below ${atMost} ms, p90`;
    return [...figures, figure(name, 'times', [highest])];
  } finally {
    await site.server.stop();
  }
};
