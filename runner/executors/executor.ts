/** The interface of executors. */
import type { Job } from '../coordinator/protocol.ts';
import type { Color } from '../log/job_log.ts';
import type { Values } from '../job_variables.ts';
import type { Ended, User } from './run_process.ts';

/** The folders of a job on this machine. */
export type Folders = {
  /** The project's files. */
  project: string;
  /** Mirror of earlier fetches; the project's repository borrows its objects. */
  objects: string;
  home: string;
  temp: string;
  /** Scripts, and the variables that are files. */
  files: string;
};

/** Everything known about a job before its first script. */
export type Setting = {
  job: Job;
  folders: Folders;
  values: Values;
  user: User | null;
  /** Unique per job. */
  mark: string;
  /** A folder of the runner's own. */
  own: string;
  /** A line of its log. */
  say: (line: string, color?: Color) => void;
  stop: AbortSignal;
};

export type Run = {
  job: Job;
  folders: Folders;
  /** Name of a script in `files`. */
  script: string;
  user: User | null;
  /** Unique per run. */
  mark: string;
  onOutput: (chunk: Buffer) => void;
  /** Aborted with a `Why` as reason. */
  stop: AbortSignal;
};

/** The environment of one job's scripts. */
export type Session = {
  /** Runs a script; resolves when all its processes have ended. @throws if it cannot be started */
  run: (run: Run) => Promise<Ended>;
  /** Removes everything created for the job. */
  end: () => Promise<void>;
};

export type Executor = {
  name: 'sandbox' | 'shell' | 'container';
  /** First lines of a job's log. */
  notice: string;
  /** Name of the folder for project files, separate for each kind of executor. */
  builds: string;
  /** The same folders as the job sees them. */
  seen: (folders: Folders, job: Job) => Folders;
  /** Prepares a job. @throws if its request cannot be met */
  begin: (setting: Setting) => Promise<Session>;
};

/** Prepares nothing, for executors without per-job setup. */
export const beginPlain = (run: Session['run']) => async (): Promise<Session> =>
  await Promise.resolve({ run, end: async () => await Promise.resolve() });

/** The base environment; nothing of the runner's own. */
export const cleanEnvironment = (home: string, temp: string): Record<string, string> => ({
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LANG: 'C.UTF-8',
  HOME: home,
  TMPDIR: temp,
  SHELL: '/bin/bash',
});

/** Turns the project's path into a valid folder. */
export const seenProjectPath = ({ variables, job_info }: Job): string => {
  const path = variables.findLast(({ key }) => key === 'CI_PROJECT_PATH')?.value ?? '';
  const parts = path.split('/');
  const isPlain = parts.every((part) => /^[\w.-]{1,255}$/.test(part) && !/^\.+$/.test(part));
  return isPlain ? path : `project-${job_info.project_id}`;
};
