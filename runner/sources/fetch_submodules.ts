/** Fetches submodules as the jobs' user: the project chooses their names and addresses. */
import { execFile } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Folders } from '../executors/executor.ts';
import type { User } from '../executors/run_process.ts';
import type { Git } from './run_git.ts';
import { submoduleFlags, submodulePaths } from './git_flags.ts';
import type { JobLog } from '../log/job_log.ts';
import type { Values } from '../job_variables.ts';

export type SubmoduleParts = {
  values: Values;
  folders: Folders;
  user: User | null;
  stop: AbortSignal;
  say: JobLog['say'];
  /**
   * Tried in order: git with the job's token, then without. A public repository may refuse the token of another
   * project's job.
   */
  gits: readonly Git[];
  /** Default depth: the depth of the project's fetch; 0: full history. */
  depth: number;
};

const getRunOptions = ({ folders }: SubmoduleParts) => ({
  cwd: folders.project,
  environment: { GIT_ALTERNATE_OBJECT_DIRECTORIES: folders.objects },
});

const strategies = ['none', 'normal', 'recursive'];

const parseStrategy = (values: Values): string => {
  const strategy = values.get('GIT_SUBMODULE_STRATEGY') || 'none';
  if (strategies.includes(strategy)) return strategy;
  throw new Error(`unknown GIT_SUBMODULE_STRATEGY: it is one of ${strategies.join(', ')}`);
};

const hasModules = ({ folders }: SubmoduleParts): boolean =>
  lstatSync(join(folders.project, '.gitmodules'), { throwIfNoEntry: false })?.isFile() === true;

/** Empties the submodules' folders. Their files belong to the `.git` folder of an earlier job, which is gone. */
const emptySubmodules = async (git: Git, parts: SubmoduleParts): Promise<void> => {
  const { output } = await git(['ls-files', '--stage', '-z'], getRunOptions(parts));
  const entries = output
    .toString()
    .split('\0')
    .filter((line) => line.startsWith('160000 '));
  const paths = entries.map((line) => join(parts.folders.project, line.slice(line.indexOf('\t') + 1)));
  const run = async (program: string, option: string, some: readonly string[]): Promise<void> =>
    void (await promisify(execFile)(program, [option, '--', ...some], { cwd: '/', ...parts.user }));
  for (let at = 0; at < paths.length; at += 100) {
    const some = paths.slice(at, at + 100);
    await run('/bin/rm', '-rf', some);
    await run('/bin/mkdir', '-p', some);
  }
};

const parseDepth = ({ values, depth }: SubmoduleParts): number => {
  const text = values.get('GIT_SUBMODULE_DEPTH') ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : depth;
};

const update = async (parts: SubmoduleParts, isRecursive: boolean): Promise<void> => {
  const { values, say, gits, stop } = parts;
  const depth = parseDepth(parts);
  const how = `${isRecursive ? ' recursively' : ''}${depth > 0 ? ` with git depth set to ${depth}` : ''}`;
  say(`Updating/initializing submodules${how}...`, 'green');
  const args = [
    'submodule',
    '--quiet',
    'update',
    '--init',
    '--force',
    ...(isRecursive ? ['--recursive'] : []),
    ...(depth > 0 ? [`--depth=${depth}`] : []),
    ...submoduleFlags(values, { say }),
    '--',
    ...submodulePaths(values),
  ];
  let last = '';
  for (const git of gits) {
    const { code, complaint } = await git(args, getRunOptions(parts));
    if (code === 0) return;
    stop.throwIfAborted();
    last = complaint;
  }
  say(last, 'red');
  throw new Error('the submodules could not be fetched');
};

/** Fetches submodules as `GIT_SUBMODULE_STRATEGY` says. Without a strategy, only empties their folders. */
export const fetchSubmodules = async (parts: SubmoduleParts): Promise<void> => {
  const strategy = parseStrategy(parts.values);
  const [, plain] = parts.gits;
  if (plain !== undefined && hasModules(parts)) await emptySubmodules(plain, parts);
  if (strategy === 'none') return parts.say('Skipping Git submodules setup');
  if (hasModules(parts)) await update(parts, strategy === 'recursive');
};
