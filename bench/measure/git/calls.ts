/**
 * Measures the calls of the service to gitd over its own connection, and compares each with a git process that is
 * started for it.
 */
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writeMarker } from '../../../src/platform/git/instance_marker.ts';
import type { Repository } from '../../../src/platform/git/repository.ts';
import { type GitStorages, getLocalRoot, openGit } from '../../../src/platform/git/storages.ts';
import { gitEnvironment } from '../../../test/support/repositories/git.ts';
import type { Bench } from '../../bench.ts';
import { type Figure, figure, percentile } from '../../measured_figures.ts';
import type { Goals } from '../../goals.ts';
import { memoryOf } from '../../process_usage.ts';

const run = promisify(execFile);

/** Of the repository: files in 20 folders, and commits on each other. */
const size = { files: 1000, commits: 60 };

type Site = {
  bench: Bench;
  storages: GitStorages;
  repository: Repository;
  /** The repository on disk. */
  dir: string;
  head: string;
  few: string;
  many: string;
  other: string;
};

const git = async (dir: string, ...args: string[]): Promise<string> =>
  (await run('git', args, { cwd: dir, env: gitEnvironment(), maxBuffer: 2 ** 26 })).stdout.trim();

const fileAt = (index: number): string => join(`folder${index % 20}`, `file${index}.txt`);

const textOf = (index: number, edition: number): string =>
  Array.from({ length: 100 }, (_none, line) =>
    line % 40 === edition % 40 ? `line ${line}, edition ${edition}` : `line ${line} of file ${index}`,
  ).join('\n');

const edit = (tree: string, indexes: number[], edition: number): void => {
  for (const index of indexes) writeFileSync(join(tree, fileAt(index)), textOf(index, edition));
};

const commit = async (tree: string, message: string): Promise<string> => {
  await git(tree, 'add', '--all');
  await git(tree, 'commit', '--quiet', '--message', message);
  return await git(tree, 'rev-parse', 'HEAD');
};

const firstFiles = (count: number): number[] => Array.from({ length: count }, (_none, index) => index);

/** Creates a history and three branches from its end: 5 changed files, 200 (20 of them moved), and one to merge. */
const makeHistory = async (tree: string) => {
  for (const index of firstFiles(20)) mkdirSync(join(tree, `folder${index}`), { recursive: true });
  await git(tree, 'init', '--quiet', '.');
  edit(tree, firstFiles(size.files), 0);
  for (let number = 0; number < size.commits; number += 1) {
    edit(tree, [number * 7], number + 1);
    await commit(tree, `commit ${number}`);
  }
  const head = await git(tree, 'rev-parse', 'HEAD');
  const branch = async (indexes: number[], moved = 0): Promise<string> => {
    await git(tree, 'checkout', '--quiet', '--detach', head);
    edit(tree, indexes, 100);
    for (const index of indexes.slice(0, moved)) await git(tree, 'mv', fileAt(index), `moved${index}.txt`);
    return await commit(tree, `${indexes.length} files`);
  };
  return {
    head,
    few: await branch(firstFiles(5)),
    many: await branch(firstFiles(200), 20),
    other: await branch([900]),
  };
};

const openSite = async (bench: Bench, folder: string): Promise<Site> => {
  bench.progress('git: making a repository');
  const tree = join(folder, 'tree');
  const site = { name: 'default', path: null, address: null };
  const instance = randomUUID();
  await writeMarker(getLocalRoot(folder, site), instance);
  const storages = openGit({
    storages: [site],
    data: folder,
    secret: null,
    ca: null,
    instance,
    random: randomBytes,
    log: () => undefined,
  });
  const repository = storages.repository({
    id: 1,
    repository_storage: 'default',
    repository_path: null,
    repository_written: 0,
  });
  await repository.ask('repository.create', {});
  const made = await makeHistory(tree);
  const dir = join(getLocalRoot(folder, site), repository.path);
  const refs = Object.entries(made).map(([name, id]) => `${id}:refs/heads/${name}`);
  await git(tree, 'push', '--quiet', dir, ...refs);
  await repository.ask('repository.maintain', {});
  return { bench, storages, repository, dir, ...made };
};

type Call = {
  name: string;
  goal: keyof Goals;
  times: number;
  ask: () => Promise<unknown>;
  /** The same work by a new git process per call; `{fresh}` is replaced by a new name. */
  spawn: string[][];
};

const ada = { name: 'Ada', email: 'ada@example.com', time: 1_700_000_000, offset: '+0000' };
const limits = { files: 1000, lines: 50_000, bytes: 10_000_000, file_bytes: 200_000 };
const nothing = '0'.repeat(40);

const reads = ({ repository, head, few, many, other }: Site): Call[] => [
  {
    name: 'ref',
    goal: 'gitRef',
    times: 1000,
    ask: async () => await repository.ask('refs.get', { names: ['refs/heads/head'] }),
    spawn: [['rev-parse', 'refs/heads/head']],
  },
  {
    name: 'blob',
    goal: 'gitBlob',
    times: 1000,
    ask: async () => await repository.read('blob.at', { commit: head, path: fileAt(7), max: 100_000 }),
    spawn: [['cat-file', 'blob', `${head}:${fileAt(7)}`]],
  },
  {
    name: '20 commits',
    goal: 'gitCommits',
    times: 500,
    ask: async () => await repository.ask('commits.list', { from: [head], skip: 0, limit: 20 }),
    spawn: [['log', '--max-count=20', '--format=raw', head]],
  },
  {
    name: 'diff of 5 files',
    goal: 'gitFewFiles',
    times: 500,
    ask: async () => await repository.ask('diff.files', { from: head, to: few, limits }),
    spawn: [['diff-tree', '-r', '-M', '-p', head, few]],
  },
  {
    name: 'diff of 200 files',
    goal: 'gitManyFiles',
    times: 50,
    ask: async () => await repository.ask('diff.files', { from: head, to: many, limits }),
    spawn: [['diff-tree', '-r', '-M', '-p', head, many]],
  },
  {
    name: 'merge check',
    goal: 'gitMergeCheck',
    times: 100,
    ask: async () => await repository.ask('merge.check', { ours: few, theirs: other }),
    spawn: [['merge-tree', '--write-tree', few, other]],
  },
];

const fresh = (): string => `b-${randomBytes(8).toString('hex')}`;

const commitFile = async ({ repository, head }: Site): Promise<void> => {
  const body = Buffer.from(`${randomBytes(30).toString('hex')}\n`);
  const content = { offset: 0, length: body.length };
  const actions = [{ action: 'update' as const, file_path: fileAt(9), content }];
  const made = await repository.ask(
    'commit.actions',
    { parent: head, actions, message: 'One file', author: ada, committer: ada },
    body,
  );
  if (!('id' in made)) throw new Error('the commit was not made');
  const updates = [{ ref: `refs/heads/${fresh()}`, old: nothing, new: made.id }];
  await repository.ask('refs.update', { updates });
};

const writes = (site: Site): Call[] => [
  {
    name: 'branch',
    goal: 'gitBranch',
    times: 200,
    ask: async () => {
      const updates = [{ ref: `refs/heads/${fresh()}`, old: nothing, new: site.head }];
      await site.repository.ask('refs.update', { updates });
    },
    spawn: [['update-ref', 'refs/heads/{fresh}', site.head, nothing]],
  },
  {
    name: 'commit of one file',
    goal: 'gitCommitFile',
    times: 100,
    ask: async () => await commitFile(site),
    spawn: [
      ['hash-object', '-w', '--stdin'],
      ['read-tree', `--index-output=${site.dir}/bench-index`, site.head],
      ['write-tree'],
      ['commit-tree', '-m', 'x', `${site.head}^{tree}`],
      ['update-ref', 'refs/heads/{fresh}', site.head, nothing],
    ],
  },
];

const p50 = async (times: number, work: () => Promise<unknown>): Promise<number> => {
  const waits: number[] = [];
  for (let n = 0; n < times; n += 1) {
    const began = performance.now();
    await work();
    waits.push(performance.now() - began);
  }
  return percentile(
    waits.toSorted((a, b) => a - b),
    0.5,
  );
};

const spawnAll = async ({ dir }: Site, { spawn }: Call): Promise<void> => {
  for (const args of spawn) {
    const child = run(
      'git',
      args.map((text) => text.replace('{fresh}', fresh())),
      {
        cwd: dir,
        env: gitEnvironment({ GIT_DIR: dir, GIT_INDEX_FILE: join(dir, 'bench-index') }),
        maxBuffer: 2 ** 26,
      },
    );
    child.child.stdin?.on('error', () => undefined).end('text'); // most do not read it
    await child;
  }
};

const measureCall = async (site: Site, call: Call): Promise<Figure> => {
  const { bench } = site;
  await p50(call.times, call.ask); // warm
  const rounds: number[] = [];
  const floors: number[] = [];
  for (let round = 1; round <= bench.rounds; round += 1) {
    bench.progress(`git: ${call.name}, round ${round} of ${bench.rounds}`);
    rounds.push(await p50(call.times, call.ask));
    floors.push(await p50(10, async () => await spawnAll(site, call)));
  }
  const floor = percentile(
    floors.toSorted((a, b) => a - b),
    0.5,
  );
  return figure(`git: ${call.name}, p50`, 'ms', rounds, { ...bench.goals[call.goal], floor });
};

export const measureGitCalls = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('git')) return [];
  const folder = mkdtempSync(join(tmpdir(), 'gantry-bench-git-'));
  mkdirSync(join(folder, 'tree'));
  const site = await openSite(bench, folder);
  try {
    const figures: Figure[] = [];
    for (const call of [...reads(site), ...writes(site)]) figures.push(await measureCall(site, call));
    const { pid } = await site.storages.status('default');
    const memory = memoryOf(pid, false).rss;
    return [...figures, figure('git: memory of gitd after it', 'MB', [memory], bench.goals.memoryGitd)];
  } finally {
    await site.storages.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};
