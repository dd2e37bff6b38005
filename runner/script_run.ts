/** Runs one script of a job: written where the job finds it, with its variables and the files among them. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Executor, Folders } from './executors/executor.ts';
import type { Ended, User } from './executors/run.ts';
import { giveTo, writeNew } from './folders.ts';
import type { Job } from './protocol.ts';
import { scriptText } from './script.ts';
import { type Values, expand } from './variables.ts';

export type ScriptPlace = {
  job: Job;
  executor: Executor;
  folders: Folders;
  values: Values;
  user: User | null;
  mark: string;
};

type Parts = ScriptPlace & {
  name: string;
  lines: readonly string[];
  /** What this script knows beside the job's variables. */
  more?: Record<string, string>;
  onOutput: (chunk: Buffer) => void;
  stop: AbortSignal;
};

/** Where a variable that is a file lies, below `files`. */
export const variablePath = (files: string, key: string): string => join(files, 'variables', key);

export const writeFileVariables = (
  files: ReadonlyMap<string, string>,
  { files: folder }: Folders,
  user: User | null,
): void => {
  if (files.size === 0) return;
  const variables = join(folder, 'variables');
  mkdirSync(variables, { recursive: true, mode: 0o700 });
  giveTo(user, variables);
  for (const [key, text] of files) writeNew(user, variablePath(folder, key), text);
};

/** @throws where nothing starts */
export const runScript = async (parts: Parts): Promise<Ended> => {
  const { job, executor, folders, values, user, mark, name, lines, more = {}, onOutput, stop } = parts;
  const seen = executor.seen(folders, job);
  const all = new Map([...values, ...Object.entries(more)]);
  const script = `${name}.sh`;
  writeNew(user, join(folders.files, script), scriptText({ lines, values: all, folder: seen.project }));
  const image = job.image ? expand(job.image.name, values) : null;
  return await executor.run({ job, folders, script, image, user, mark: `${mark}-${name}`, onOutput, stop });
};
