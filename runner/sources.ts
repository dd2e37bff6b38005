/**
 * Brings a project's files. What is fetched is kept in a repository that no job can write to; the project's own
 * one is made anew for each job and borrows its objects, so that nothing of an earlier job is ever run here.
 */
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Folders } from './executors/executor.ts';
import type { User } from './executors/run.ts';
import { giveTo, removeTree, writeNew } from './folders.ts';
import { type Git, makeGit } from './git.ts';
import { cleanFlags, fetchFlags } from './git_flags.ts';
import type { Job } from './protocol.ts';
import { bringSubmodules } from './submodules.ts';
import type { Trace } from './trace.ts';
import type { Values } from './variables.ts';

export type SourceParts = {
  job: Job;
  /** Of the coordinator. */
  url: string;
  values: Values;
  folders: Folders;
  /** Where the job will find `folders.objects`. */
  seenObjects: string;
  user: User | null;
  trace: Trace;
  stop: AbortSignal;
};

/** As the runner reaches the coordinator; what signs in is no part of it. */
const repositoryUrl = (job: Job, url: string): string => {
  const { pathname } = new URL(job.git_info.repo_url);
  return `${new URL(url).origin}${pathname}`;
};

const depthOf = (job: Job, values: Values): number => {
  const asked = values.get('GIT_DEPTH') ?? '';
  return /^\d+$/.test(asked) ? Number(asked) : (job.git_info.depth ?? 0);
};

/** Milliseconds between tries: a coordinator that is started again is back by then. */
const pauses = [500, 1_000, 2_000, 4_000, 8_000, 15_000];

const fetchSources = async (git: Git, parts: SourceParts, repository: string): Promise<void> => {
  const { job, values, trace, stop, url } = parts;
  const { ref, refspecs } = job.git_info;
  const wanted = refspecs?.length ? refspecs : [`+refs/heads/${ref}:refs/remotes/origin/${ref}`];
  const depth = depthOf(job, values);
  const { output } = await git(['--git-dir', repository, 'rev-parse', '--is-shallow-repository']);
  const isShallow = output.toString().trim() === 'true';
  const deep = depth > 0 ? [`--depth=${depth}`] : isShallow ? ['--unshallow'] : [];
  trace.say(
    depth > 0 ? `Fetching changes with git depth set to ${depth}...` : 'Fetching changes...',
    'green',
  );
  const words = [
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
    ...wanted,
  ];
  for (const pause of [...pauses, null]) {
    // oxlint-disable no-await-in-loop -- one try after another
    const { code, complaint } = await git(words);
    if (code === 0) return;
    stop.throwIfAborted();
    trace.say(complaint, 'red');
    if (pause === null || /not found|denied|forbidden/i.test(complaint)) break;
    await wait(pause, undefined, { signal: stop });
    // oxlint-enable no-await-in-loop
  }
  throw new Error('the sources could not be fetched');
};

const isWanted = (job: Job) => {
  const targets = (job.git_info.refspecs ?? []).map((refspec) => refspec.split(':')[1] ?? '');
  const exact = new Set(targets);
  const folders = targets.filter((target) => target.endsWith('*')).map((target) => target.slice(0, -1));
  return (name: string): boolean => exact.has(name) || folders.some((folder) => name.startsWith(folder));
};

/** Where the history is cut off; null: it is all there. A mirror that a job got at tells nothing of other files. */
const shallowOf = async (mirror: string): Promise<Buffer | null> => {
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

/** The project's own repository, fresh; no word of who fetched it is in it. */
const makeRepository = async (git: Git, parts: SourceParts, mirror: string): Promise<void> => {
  const { job, folders, user, url } = parts;
  const own = join(folders.project, '.git');
  await removeTree(own);
  await git(['init', '--quiet', folders.project]);
  const { output } = await git(['--git-dir', mirror, 'for-each-ref', '--format=%(objectname) %(refname)']);
  const isOurs = isWanted(job);
  const lines = output.toString().split('\n');
  const refs = lines.filter((line) => isOurs(line.slice(line.indexOf(' ') + 1)));
  writeNew(user, join(own, 'packed-refs'), refs.map((line) => `${line}\n`).join(''));
  const shallow = await shallowOf(mirror);
  if (shallow !== null) writeNew(user, join(own, 'shallow'), shallow);
  const at = ['--git-dir', own, 'config'];
  await git([...at, 'remote.origin.url', repositoryUrl(job, url)]);
  await git([...at, 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*']);
};

/** A job may have made folders that not even their owner can change. */
const withRights = async (
  { folders: { project }, user }: SourceParts,
  work: () => Promise<Answer>,
): Promise<Answer> => {
  const answer = await work();
  if (answer.code === 0) return answer;
  const words = ['-R', 'u+rwX', '--', project];
  await promisify(execFile)('/bin/chmod', words, { cwd: '/', ...user }).catch(() => undefined);
  return await work();
};

type Answer = Awaited<ReturnType<Git>>;

/** Where it is noted what lies in the project's folder. */
const lastRef = 'refs/gantry/checked-out';

/** Names what lies there already; after a clone, the default branch is brought there. */
const leaveAsIs = async (run: Run, parts: SourceParts, strategy: string): Promise<void> => {
  const { values, trace, folders } = parts;
  trace.say('Skipping Git checkout');
  const mirror = dirname(folders.objects);
  const branch = `refs/remotes/origin/${values.get('CI_DEFAULT_BRANCH') ?? 'main'}`;
  const wanted = strategy === 'clone' ? branch : lastRef;
  const { code, output } = await run(
    '--git-dir',
    mirror,
    'rev-parse',
    '--verify',
    '--quiet',
    `${wanted}^{commit}`,
  );
  const sha = output.toString().trim();
  if (code !== 0) return;
  if (strategy === 'clone') return void (await run('checkout', '--force', '--quiet', '--detach', sha));
  await run('update-ref', '--no-deref', 'HEAD', sha);
  await run('read-tree', 'HEAD');
};

type Run = (...words: string[]) => Promise<Answer>;

const checkOut = async (git: Git, parts: SourceParts, strategy: string): Promise<void> => {
  const { job, folders, values, trace } = parts;
  const { sha, ref } = job.git_info;
  const borrowed = { GIT_ALTERNATE_OBJECT_DIRECTORIES: folders.objects };
  const options = { cwd: folders.project, environment: borrowed };
  const run: Run = async (...words) => await withRights(parts, async () => await git(words, options));
  if (values.get('GIT_CHECKOUT') === 'false') return await leaveAsIs(run, parts, strategy);
  trace.say(`Checking out ${sha.slice(0, 8)} as detached HEAD (ref is ${ref})...`, 'green');
  const { code, complaint } = await run('checkout', '--force', '--quiet', '--detach', sha);
  if (code !== 0) throw new Error(`the commit could not be checked out: ${complaint}`);
  await run('--git-dir', dirname(folders.objects), 'update-ref', lastRef, sha);
  const flags = cleanFlags(values);
  if (flags !== null) await run('clean', '--quiet', ...flags);
};

const emptyProject = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) {
    // oxlint-disable-next-line no-await-in-loop -- few
    await removeTree(join(folder, name));
  }
};

/** Addresses of this host as others write them. */
const aliasesOf = ({ job, url, values }: SourceParts): [string, string][] => {
  const ours = `url.${new URL(url).origin}/.insteadOf`;
  const { origin, hostname } = new URL(job.git_info.repo_url);
  const isForced = values.get('GIT_SUBMODULE_FORCE_HTTPS') === 'true';
  const others = isForced ? [`git@${hostname}:`, `ssh://git@${hostname}/`] : [];
  if (origin !== new URL(url).origin) others.push(`${origin}/`);
  return others.map((other) => [ours, other]);
};

const gitFor = (parts: SourceParts, signsIn: boolean): Git => {
  const { job, url, user, stop } = parts;
  const basic = Buffer.from(`gitlab-ci-token:${job.token}`).toString('base64');
  const authorization = { url: `${new URL(url).origin}/`, header: `Basic ${basic}` };
  return makeGit({ user, stop, authorization: signsIn ? authorization : null, more: aliasesOf(parts) });
};

const strategies = ['fetch', 'clone', 'none', 'empty'];

const strategyOf = ({ job, values }: SourceParts): string => {
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

export const getSources = async (parts: SourceParts): Promise<void> => {
  const { folders, user, seenObjects, trace } = parts;
  const strategy = strategyOf(parts);
  const mirror = dirname(folders.objects);
  if (strategy === 'none' || strategy === 'empty') return await skipSources(parts, strategy);
  if (strategy === 'clone') {
    await emptyProject(folders.project);
    await removeTree(mirror);
    await mkdir(mirror, { mode: 0o700 });
    giveTo(user, mirror);
  }
  const git = gitFor(parts, false);
  // Those of earlier pipelines: what is still wanted of them is fetched again. As the user: a link may stand there.
  const old = ['-rf', '--', join(mirror, 'refs/pipelines')];
  await promisify(execFile)('/bin/rm', old, { cwd: '/', ...user });
  await git(['init', '--bare', '--quiet', mirror]);
  await fetchSources(gitFor(parts, true), parts, mirror);
  await makeRepository(git, parts, mirror);
  await checkOut(git, parts, strategy);
  await bringSubmodules({
    ...parts,
    gits: [gitFor(parts, true), git],
    depth: depthOf(parts.job, parts.values),
    say: trace.say,
  });
  const alternates = join(folders.project, '.git/objects/info/alternates');
  await mkdir(dirname(alternates), { recursive: true });
  writeNew(user, alternates, `${seenObjects}\n`);
};

/** Paths that are under version control, as they were fetched. */
export const trackedPaths = async (parts: SourceParts): Promise<Set<string>> => {
  const git = gitFor(parts, false);
  const mirror = dirname(parts.folders.objects);
  const words = ['--git-dir', mirror, 'ls-tree', '-r', '-z', '--name-only', parts.job.git_info.sha];
  const { output } = await git(words);
  return new Set(output.toString().split('\0'));
};
