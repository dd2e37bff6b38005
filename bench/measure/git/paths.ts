/** Measures the CPU of a push, a fetch and a first clone, with the git processes that they start. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitEnvironment } from '../../../test/support/repositories/git.ts';
import type { Bench } from '../../bench.ts';
import { type Figure, figure } from '../../measured_figures.ts';
import { cpuSeconds, endedChildrenCpuSeconds } from '../../process_usage.ts';
import { type Running, rootToken } from '../../service.ts';
import { commitAll, git, newProject, urlOf, writeFiles } from '../../sites/git_site.ts';
import { base } from '../../sites/root_api.ts';
import { packet } from './answers.ts';

/** Megabytes of the repository, and commits on top of its first. */
const megabytes = 50;
const commits = 20;

export type Site = { server: Running; tree: string; bare: string; url: string; path: string; ids: string[] };

/** A repository on the service and the same as plain git has it. Its commits change one file each. */
export const prepare = async (server: Running, folder: string): Promise<Site> => {
  const [tree, bare] = [join(folder, 'first-clone'), join(folder, 'first-clone.git')];
  mkdirSync(tree);
  await git(tree, 'init', '--quiet', '--initial-branch=main', '.');
  writeFiles(tree, megabytes, megabytes * 10);
  await commitAll(tree, 'Begin');
  for (let at = 0; at < commits; at += 1) {
    writeFileSync(join(tree, 'changed.txt'), `${at}`);
    await commitAll(tree, `Change ${at}`);
  }
  const path = await newProject(server.port, 'first clone');
  const url = urlOf(server.port, path);
  await git(tree, 'push', '--quiet', url, 'HEAD:refs/heads/main');
  await git(folder, 'clone', '--quiet', '--bare', `file://${tree}`, bare);
  const ids = (await git(tree, 'rev-list', '--first-parent', 'HEAD')).split('\n');
  return { server, tree, bare, url, path, ids };
};

/** Sends a request of git and reads its answer. */
export const send = async ({ server, path }: Site, rest: string, body?: Buffer): Promise<void> => {
  const response = await fetch(`${base(server.port)}/${path}.git/${rest}`, {
    headers: {
      authorization: `Basic ${Buffer.from(`x:${rootToken}`).toString('base64')}`,
      'git-protocol': 'version=2',
      ...(body !== undefined && { 'content-type': 'application/x-git-upload-pack-request' }),
    },
    ...(body !== undefined && { method: 'POST', body: new Uint8Array(body) }),
  });
  if (response.status !== 200) throw new Error(`${rest} answered ${response.status}`);
  for await (const _chunk of response.body ?? []);
};

const command = (name: string, args: readonly string[]): Buffer =>
  Buffer.from(
    [packet(`command=${name}`), packet('object-format=sha1'), '0001', ...args.map(packet), '0000'].join(''),
  );

export const listing = command('ls-refs', [
  'peel\n',
  'symrefs\n',
  'ref-prefix refs/heads/\n',
  'ref-prefix refs/tags/\n',
]);

export const fetching = (want: string, have?: string): Buffer =>
  command('fetch', [
    'thin-pack\n',
    'no-progress\n',
    'ofs-delta\n',
    `want ${want}\n`,
    ...(have === undefined ? [] : [`have ${have}\n`]),
    'done\n',
  ]);

/** Milliseconds of CPU of the service and all processes below it. */
const cpuOf = async ({ server }: Site, work: () => Promise<unknown>): Promise<number> => {
  const before = cpuSeconds([server.pid]);
  await work();
  return (cpuSeconds([server.pid]) - before) * 1e3;
};

const measurePush = async (bench: Bench, site: Site): Promise<number[]> => {
  const pushes = 5;
  const costs: number[] = [];
  for (let round = 0; round < bench.rounds; round += 1) {
    let cpu = 0;
    for (let at = 0; at < pushes; at += 1) {
      writeFileSync(join(site.tree, 'changed.txt'), `pushed ${round} ${at}`);
      await commitAll(site.tree, `Push ${round} ${at}`);
      cpu += await cpuOf(site, () => git(site.tree, 'push', '--quiet', site.url, 'HEAD:refs/heads/pushed'));
    }
    costs.push(cpu / pushes);
  }
  return costs;
};

/** Fetches as a client does that lacks one commit, each time another. */
const measureFetch = async (site: Site): Promise<number> => {
  const pairs = site.ids.slice(0, commits).map((id, at) => [id, site.ids[at + 1]] as const);
  const cpu = await cpuOf(site, async () => {
    for (const [want, have] of pairs) {
      await send(site, 'info/refs?service=git-upload-pack');
      await send(site, 'git-upload-pack', listing);
      await send(site, 'git-upload-pack', fetching(want, have));
    }
  });
  return cpu / pairs.length;
};

const requireSuccess = ({ status, stderr }: SpawnSyncReturns<Buffer>): void => {
  if (status !== 0) throw new Error(`git upload-pack failed: ${stderr.toString()}`);
};

const plainClone = (site: Site, want: string): number => {
  const before = endedChildrenCpuSeconds();
  requireSuccess(
    spawnSync('git', ['upload-pack', '--stateless-rpc', site.bare], {
      env: { ...gitEnvironment(), GIT_PROTOCOL: 'version=2' },
      input: fetching(want),
      maxBuffer: 2 ** 28,
      stdio: ['pipe', 'pipe', 'pipe'],
    }),
  );
  return (endedChildrenCpuSeconds() - before) * 1e3;
};

/** Measures first clones of several commits, each compared with the same clone by plain git. */
const measureClones = async (bench: Bench, site: Site): Promise<number[]> => {
  const multiples: number[] = [];
  for (const want of site.ids.slice(0, bench.rounds)) {
    const plain = plainClone(site, want);
    const own = await cpuOf(site, () => send(site, 'git-upload-pack', fetching(want)));
    multiples.push(own / plain);
  }
  return multiples;
};

export const measurePathsOfGit = async (bench: Bench, server: Running, folder: string): Promise<Figure[]> => {
  bench.progress('paths: git');
  const site = await prepare(server, folder);
  const clones = await measureClones(bench, site);
  const fetch = await measureFetch(site);
  const push = await measurePush(bench, site);
  const { goals } = bench;
  return [
    figure('path: push of one commit, CPU', 'ms', push, goals.pathPush),
    figure('path: fetch of one commit, CPU', 'ms', [fetch], goals.pathFetch),
    figure(`path: first clone of ${megabytes} MB, against git`, 'times', clones, goals.pathClone),
  ];
};
