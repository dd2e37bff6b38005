/** Brings the repositories within a repository, as the job's user: their names and addresses are of the project. */
import { execFile } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Folders } from './executors/executor.ts';
import type { User } from './executors/run.ts';
import type { Git } from './git.ts';
import { submoduleFlags, submodulePaths } from './git_flags.ts';
import type { Trace } from './trace.ts';
import type { Values } from './variables.ts';

export type SubmoduleParts = {
  values: Values;
  folders: Folders;
  user: User | null;
  stop: AbortSignal;
  say: Trace['say'];
  /** One that signs in with the job's token, and one that does not: a public one may refuse a job of another. */
  gits: readonly Git[];
  /** Of the project's own history; 0: all of it. */
  depth: number;
};

const optionsOf = ({ folders }: SubmoduleParts) => ({
  cwd: folders.project,
  environment: { GIT_ALTERNATE_OBJECT_DIRECTORIES: folders.objects },
});

const strategies = ['none', 'normal', 'recursive'];

const strategyOf = (values: Values): string => {
  const strategy = values.get('GIT_SUBMODULE_STRATEGY') || 'none';
  if (strategies.includes(strategy)) return strategy;
  throw new Error(`unknown GIT_SUBMODULE_STRATEGY: it is one of ${strategies.join(', ')}`);
};

const hasModules = ({ folders }: SubmoduleParts): boolean =>
  lstatSync(join(folders.project, '.gitmodules'), { throwIfNoEntry: false })?.isFile() === true;

/** What an earlier job has of them belonged to a repository that is gone. */
const emptyModules = async (git: Git, parts: SubmoduleParts): Promise<void> => {
  const { output } = await git(['ls-files', '--stage', '-z'], optionsOf(parts));
  const entries = output
    .toString()
    .split('\0')
    .filter((line) => line.startsWith('160000 '));
  const paths = entries.map((line) => join(parts.folders.project, line.slice(line.indexOf('\t') + 1)));
  const run = async (program: string, option: string, some: readonly string[]): Promise<void> =>
    void (await promisify(execFile)(program, [option, '--', ...some], { cwd: '/', ...parts.user }));
  for (let at = 0; at < paths.length; at += 100) {
    const some = paths.slice(at, at + 100);
    // oxlint-disable no-await-in-loop -- a command line is not endless
    await run('/bin/rm', '-rf', some);
    await run('/bin/mkdir', '-p', some);
    // oxlint-enable no-await-in-loop
  }
};

const depthOf = ({ values, depth }: SubmoduleParts): number => {
  const asked = values.get('GIT_SUBMODULE_DEPTH') ?? '';
  return /^\d{1,9}$/.test(asked) ? Number(asked) : depth;
};

const update = async (parts: SubmoduleParts, isRecursive: boolean): Promise<void> => {
  const { values, say, gits, stop } = parts;
  const depth = depthOf(parts);
  const how = `${isRecursive ? ' recursively' : ''}${depth > 0 ? ` with git depth set to ${depth}` : ''}`;
  say(`Updating/initializing submodules${how}...`, 'green');
  const words = [
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
    // oxlint-disable-next-line no-await-in-loop -- the second where the first did not do
    const { code, complaint } = await git(words, optionsOf(parts));
    if (code === 0) return;
    stop.throwIfAborted();
    last = complaint;
  }
  say(last, 'red');
  throw new Error('the submodules could not be fetched');
};

export const bringSubmodules = async (parts: SubmoduleParts): Promise<void> => {
  const strategy = strategyOf(parts.values);
  const [, plain] = parts.gits;
  if (plain !== undefined && hasModules(parts)) await emptyModules(plain, parts);
  if (strategy === 'none') return parts.say('Skipping Git submodules setup');
  if (hasModules(parts)) await update(parts, strategy === 'recursive');
};
