/**
 * Fetches a project's sources. Fetched objects are kept in a mirror outside the project's folder. Each job gets
 * a new `.git` folder that borrows the mirror's objects, so that hooks and settings of an earlier job never run.
 */
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Folders } from '../executors/executor.ts';
import type { User } from '../executors/run_process.ts';
import { changeOwner, removeTree, writeNew } from '../files/slot_folders.ts';
import { type Git, makeGit } from './run_git.ts';
import { cleanFlags, fetchFlags } from './git_flags.ts';
import type { Job } from '../coordinator/protocol.ts';
import { fetchSubmodules } from './fetch_submodules.ts';
import type { JobLog } from '../log/job_log.ts';
import type { Values } from '../job_variables.ts';

export type SourceParts = {
  job: Job;
  /** Address of the coordinator. */
  url: string;
  values: Values;
  folders: Folders;
  /** Path of `folders.objects` as the job sees it. */
  seenObjects: string;
  user: User | null;
  trace: JobLog;
  stop: AbortSignal;
};

/** Returns the repository's URL at the address that the runner uses, without credentials. */
const repositoryUrl = (job: Job, url: string): string => {
  const { pathname } = new URL(job.git_info.repo_url);
  return `${new URL(url).origin}${pathname}`;
};

const parseDepth = (job: Job, values: Values): number => {
  const depth = values.get('GIT_DEPTH') ?? '';
  return /^\d+$/.test(depth) ? Number(depth) : (job.git_info.depth ?? 0);
};

/** Milliseconds between attempts: long enough for a coordinator to restart. */
const pauses = [500, 1_000, 2_000, 4_000, 8_000, 15_000];

const fetchSources = async (git: Git, parts: SourceParts, repository: string): Promise<void> => {
  const { job, values, trace, stop, url } = parts;
  const { ref, refspecs } = job.git_info;
  const requested = refspecs?.length ? refspecs : [`+refs/heads/${ref}:refs/remotes/origin/${ref}`];
  const depth = parseDepth(job, values);
  const { output } = await git(['--git-dir', repository, 'rev-parse', '--is-shallow-repository']);
  const isShallow = output.toString().trim() === 'true';
  const deep = depth > 0 ? [`--depth=${depth}`] : isShallow ? ['--unshallow'] : [];
  trace.say(
    depth > 0 ? `Fetching changes with git depth set to ${depth}...` : 'Fetching changes...',
    'green',
  );
  const args = [
    '--git-dir',
    repository,
    'fetch',
    '--no-tags',
    '--no-recurse-submodules',
    '--force',
    '--quiet',
    ...fetchFlags(values, trace),
    ...deep,
    '--end-of-options',
    repositoryUrl(job, url),
    ...requested,
  ];
  for (const pause of [...pauses, null]) {
    const { code, complaint } = await git(args);
    if (code === 0) return;
    stop.throwIfAborted();
    trace.say(complaint, 'red');
    if (pause === null || /not found|denied|forbidden/i.test(complaint)) break;
    await wait(pause, undefined, { signal: stop });
  }
  throw new Error('the sources could not be fetched');
};

const makeRefFilter = (job: Job) => {
  const targets = (job.git_info.refspecs ?? []).map((refspec) => refspec.split(':')[1] ?? '');
  const exact = new Set(targets);
  const folders = targets.filter((target) => target.endsWith('*')).map((target) => target.slice(0, -1));
  return (name: string): boolean => exact.has(name) || folders.some((folder) => name.startsWith(folder));
};

/**
 * Reads the mirror's `shallow` file; null if the history is complete. Follows no links and accepts no file of another
 * owner: a job may have changed the mirror.
 */
const readShallow = async (mirror: string): Promise<Buffer | null> => {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(join(mirror, 'shallow'), flags).catch(() => null);
  if (handle === null) return null;
  try {
    const { uid, nlink } = await handle.stat();
    const { uid: owner } = await lstat(mirror);
    return uid === owner && nlink === 1 ? await handle.readFile() : null;
  } finally {
    await handle.close();
  }
};

/** Creates a new `.git` folder for the project, without credentials. */
const makeRepository = async (git: Git, parts: SourceParts, mirror: string): Promise<void> => {
  const { job, folders, user, url } = parts;
  const own = join(folders.project, '.git');
  await removeTree(own);
  await git(['init', '--quiet', folders.project]);
  const { output } = await git(['--git-dir', mirror, 'for-each-ref', '--format=%(objectname) %(refname)']);
  const isOurs = makeRefFilter(job);
  const lines = output.toString().split('\n');
  const refs = lines.filter((line) => isOurs(line.slice(line.indexOf(' ') + 1)));
  writeNew(user, join(own, 'packed-refs'), refs.map((line) => `${line}\n`).join(''));
  const shallow = await readShallow(mirror);
  if (shallow !== null) writeNew(user, join(own, 'shallow'), shallow);
  const at = ['--git-dir', own, 'config'];
  await git([...at, 'remote.origin.url', repositoryUrl(job, url)]);
  await git([...at, 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*']);
};

/** Runs `work`. If it fails, restores write permission in the project's folder, which jobs can remove, and retries. */
const retryWritable = async (
  { folders: { project }, user }: SourceParts,
  work: () => Promise<Answer>,
): Promise<Answer> => {
  const answer = await work();
  if (answer.code === 0) return answer;
  const args = ['-R', 'u+rwX', '--', project];
  await promisify(execFile)('/bin/chmod', args, { cwd: '/', ...user }).catch(() => undefined);
  return await work();
};

type Answer = Awaited<ReturnType<Git>>;

/** Ref of the mirror that records the commit in the project's folder. */
const lastRef = 'refs/gantry/checked-out';

/** Keeps the files and points HEAD at their commit. After a clone, checks out the default branch instead. */
const skipCheckout = async (run: Run, parts: SourceParts, strategy: string): Promise<void> => {
  const { values, trace, folders } = parts;
  trace.say('Skipping Git checkout');
  const mirror = dirname(folders.objects);
  const branch = `refs/remotes/origin/${values.get('CI_DEFAULT_BRANCH') ?? 'main'}`;
  const start = strategy === 'clone' ? branch : lastRef;
  const { code, output } = await run(
    '--git-dir',
    mirror,
    'rev-parse',
    '--verify',
    '--quiet',
    `${start}^{commit}`,
  );
  const sha = output.toString().trim();
  if (code !== 0) return;
  if (strategy === 'clone') return void (await run('checkout', '--force', '--quiet', '--detach', sha));
  await run('update-ref', '--no-deref', 'HEAD', sha);
  await run('read-tree', 'HEAD');
};

type Run = (...args: string[]) => Promise<Answer>;

const checkOut = async (git: Git, parts: SourceParts, strategy: string): Promise<void> => {
  const { job, folders, values, trace } = parts;
  const { sha, ref } = job.git_info;
  const borrowed = { GIT_ALTERNATE_OBJECT_DIRECTORIES: folders.objects };
  const options = { cwd: folders.project, environment: borrowed };
  const run: Run = async (...args) => await retryWritable(parts, async () => await git(args, options));
  if (values.get('GIT_CHECKOUT') === 'false') return await skipCheckout(run, parts, strategy);
  trace.say(`Checking out ${sha.slice(0, 8)} as detached HEAD (ref is ${ref})...`, 'green');
  const { code, complaint } = await run('checkout', '--force', '--quiet', '--detach', sha);
  if (code !== 0) throw new Error(`the commit could not be checked out: ${complaint}`);
  await run('--git-dir', dirname(folders.objects), 'update-ref', lastRef, sha);
  const flags = cleanFlags(values);
  if (flags !== null) await run('clean', '--quiet', ...flags);
};

const emptyProject = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) {
    await removeTree(join(folder, name));
  }
};

/** Lists git settings that rewrite other addresses of this host to the address that the runner uses. */
const listUrlRewrites = ({ job, url, values }: SourceParts): [string, string][] => {
  const ours = `url.${new URL(url).origin}/.insteadOf`;
  const { origin, hostname } = new URL(job.git_info.repo_url);
  const isForced = values.get('GIT_SUBMODULE_FORCE_HTTPS') === 'true';
  const others = isForced ? [`git@${hostname}:`, `ssh://git@${hostname}/`] : [];
  if (origin !== new URL(url).origin) others.push(`${origin}/`);
  return others.map((other) => [ours, other]);
};

const makeSourcesGit = (parts: SourceParts, signsIn: boolean): Git => {
  const { job, url, user, stop } = parts;
  const basic = Buffer.from(`gitlab-ci-token:${job.token}`).toString('base64');
  const authorization = { url: `${new URL(url).origin}/`, header: `Basic ${basic}` };
  return makeGit({ user, stop, authorization: signsIn ? authorization : null, more: listUrlRewrites(parts) });
};

const strategies = ['fetch', 'clone', 'none', 'empty'];

const parseStrategy = ({ job, values }: SourceParts): string => {
  const strategy = values.get('GIT_STRATEGY') || (job.allow_git_fetch === false ? 'clone' : 'fetch');
  if (strategies.includes(strategy)) return strategy;
  throw new Error(`unknown GIT_STRATEGY: it is one of ${strategies.join(', ')}`);
};

const skipSources = async ({ folders, trace }: SourceParts, strategy: string): Promise<void> => {
  if (strategy === 'empty') {
    await emptyProject(folders.project);
    return trace.say('Skipping Git repository setup and creating an empty build directory');
  }
  for (const what of ['repository setup', 'checkout', 'submodules setup']) trace.say(`Skipping Git ${what}`);
};

/** Fetches and checks out the job's commit and submodules, as `GIT_STRATEGY` says. */
export const getSources = async (parts: SourceParts): Promise<void> => {
  const { folders, user, seenObjects, trace } = parts;
  const strategy = parseStrategy(parts);
  const mirror = dirname(folders.objects);
  if (strategy === 'none' || strategy === 'empty') return await skipSources(parts, strategy);
  if (strategy === 'clone') {
    await emptyProject(folders.project);
    await removeTree(mirror);
    await mkdir(mirror, { mode: 0o700 });
    changeOwner(user, mirror);
  }
  const git = makeSourcesGit(parts, false);
  // Drop refs of earlier pipelines; needed refs are fetched again. `rm` runs as the jobs' user, because a job may have
  // replaced the folder by a link.
  const old = ['-rf', '--', join(mirror, 'refs/pipelines')];
  await promisify(execFile)('/bin/rm', old, { cwd: '/', ...user });
  await git(['init', '--bare', '--quiet', mirror]);
  await fetchSources(makeSourcesGit(parts, true), parts, mirror);
  await makeRepository(git, parts, mirror);
  await checkOut(git, parts, strategy);
  await fetchSubmodules({
    ...parts,
    gits: [makeSourcesGit(parts, true), git],
    depth: parseDepth(parts.job, parts.values),
    say: trace.say,
  });
  const alternates = join(folders.project, '.git/objects/info/alternates');
  await mkdir(dirname(alternates), { recursive: true });
  writeNew(user, alternates, `${seenObjects}\n`);
};

/** Lists the paths in the job's commit. */
export const trackedPaths = async (parts: SourceParts): Promise<Set<string>> => {
  const git = makeSourcesGit(parts, false);
  const mirror = dirname(parts.folders.objects);
  const args = ['--git-dir', mirror, 'ls-tree', '-r', '-z', '--name-only', parts.job.git_info.sha];
  const { output } = await git(args);
  return new Set(output.toString().split('\0'));
};
