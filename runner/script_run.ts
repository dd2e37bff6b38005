/** Runs one script of a job: written where the job finds it, with its variables and the files among them. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Folders, Session } from './executors/executor.ts';
import type { Ended, User } from './executors/run.ts';
import { endUser } from './executors/users.ts';
import { giveTo, writeNew } from './folders.ts';
import type { Job } from './protocol.ts';
import { scriptText } from './script.ts';
import type { Values } from './variables.ts';

export type ScriptPlace = {
  job: Job;
  session: Session;
  /** As the job knows them. */
  seen: Folders;
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
  const { job, session, folders, seen, values, user, mark, name, lines, more = {}, onOutput, stop } = parts;
  const all = new Map([...values, ...Object.entries(more)]);
  const script = `${name}.sh`;
  writeNew(user, join(folders.files, script), scriptText({ lines, values: all, folder: seen.project }));
  try {
    return await session.run({ job, folders, script, user, mark: `${mark}-${name}`, onOutput, stop });
  } finally {
    // Whatever hid itself would else change files under our hands, which have other rights than its own.
    if (user !== null) await endUser(user);
  }
};
