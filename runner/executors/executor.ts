/** What every way of running a script offers. */
import type { Job } from '../protocol.ts';
import type { Colour } from '../trace.ts';
import type { Values } from '../variables.ts';
import type { Ended, User } from './run.ts';

/** The folders of a job, as this machine knows them. */
export type Folders = {
  /** The project's files. */
  project: string;
  /** Of earlier fetches; the project's own repository points into it. */
  objects: string;
  home: string;
  temp: string;
  /** Scripts, and the variables that are files. */
  files: string;
};

/** All that is known of a job before its first script. */
export type Setting = {
  job: Job;
  folders: Folders;
  values: Values;
  user: User | null;
  /** No two jobs have the same. */
  mark: string;
  /** A folder of the runner's own. */
  own: string;
  /** A line of its log. */
  say: (line: string, colour?: Colour) => void;
  stop: AbortSignal;
};

export type Run = {
  job: Job;
  folders: Folders;
  /** Name of a script in `files`. */
  script: string;
  user: User | null;
  /** No two runs have the same. */
  mark: string;
  onOutput: (chunk: Buffer) => void;
  /** Its reason is a `Why`. */
  stop: AbortSignal;
};

/** Where one job's scripts run. */
export type Session = {
  /** Resolves when nothing of it is left. @throws where it cannot be started */
  run: (run: Run) => Promise<Ended>;
  /** What was made for the job is gone afterwards. */
  end: () => Promise<void>;
};

export type Executor = {
  name: 'sandbox' | 'shell' | 'container';
  /** What the log says before a job. */
  notice: string;
  /** Name of the folder that holds its projects' files: what one kind of job leaves is no other's to find. */
  builds: string;
  /** The same folders as the job sees them. */
  seen: (folders: Folders, job: Job) => Folders;
  /** @throws where the job cannot have what it asks for */
  begin: (setting: Setting) => Promise<Session>;
};

/** Of one that has nothing to make for a job as a whole. */
export const beginPlain = (run: Session['run']) => async (): Promise<Session> =>
  await Promise.resolve({ run, end: async () => await Promise.resolve() });

/** Nothing of our own environment is in it. */
export const cleanEnvironment = (home: string, temp: string): Record<string, string> => ({
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LANG: 'C.UTF-8',
  HOME: home,
  TMPDIR: temp,
  SHELL: '/bin/bash',
});

/** A path that can be one, made of the project's. */
export const seenProjectPath = ({ variables, job_info }: Job): string => {
  const path = variables.findLast(({ key }) => key === 'CI_PROJECT_PATH')?.value ?? '';
  const parts = path.split('/');
  const isPlain = parts.every((part) => /^[\w.-]{1,255}$/.test(part) && !/^\.+$/.test(part));
  return isPlain ? path : `project-${job_info.project_id}`;
};
