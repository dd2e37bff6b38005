/** Runs one script of a job: writes it with its variables where the job finds it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Folders, Session } from '../executors/executor.ts';
import type { Ended, User } from '../executors/run_process.ts';
import { endUser } from '../executors/job_users.ts';
import { changeOwner, writeNew } from '../files/slot_folders.ts';
import type { Job } from '../coordinator/protocol.ts';
import { scriptText } from './script_text.ts';
import type { Values } from '../job_variables.ts';

export type ScriptContext = {
  job: Job;
  session: Session;
  /** Folders as the job sees them. */
  seen: Folders;
  folders: Folders;
  values: Values;
  user: User | null;
  mark: string;
};

type Parts = ScriptContext & {
  name: string;
  lines: readonly string[];
  /** Variables of this script in addition to the job's. */
  more?: Record<string, string>;
  onOutput: (chunk: Buffer) => void;
  stop: AbortSignal;
};

/** Returns the path of a file variable below `files`. */
export const variablePath = (files: string, key: string): string => join(files, 'variables', key);

export const writeFileVariables = (
  files: ReadonlyMap<string, string>,
  { files: folder }: Folders,
  user: User | null,
): void => {
  if (files.size === 0) return;
  const variables = join(folder, 'variables');
  mkdirSync(variables, { recursive: true, mode: 0o700 });
  changeOwner(user, variables);
  for (const [key, text] of files) writeNew(user, variablePath(folder, key), text);
};

/** Runs a script. @throws if it cannot be started */
export const runScript = async (parts: Parts): Promise<Ended> => {
  const { job, session, folders, seen, values, user, mark, name, lines, more = {}, onOutput, stop } = parts;
  const allValues = new Map([...values, ...Object.entries(more)]);
  const script = `${name}.sh`;
  writeNew(user, join(folders.files, script), scriptText({ lines, values: allValues, folder: seen.project }));
  try {
    return await session.run({ job, folders, script, user, mark: `${mark}-${name}`, onOutput, stop });
  } finally {
    // Kill hidden processes first: the runner handles these files with more rights than the job has.
    if (user !== null) await endUser(user);
  }
};
