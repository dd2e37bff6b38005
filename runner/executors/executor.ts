/** What every way of running a script offers. */
import type { Job } from '../protocol.ts';
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

export type Run = {
  job: Job;
  folders: Folders;
  /** Name of a script in `files`. */
  script: string;
  /** Expanded; null: the job wants none. */
  image: string | null;
  user: User | null;
  /** No two runs have the same. */
  mark: string;
  onOutput: (chunk: Buffer) => void;
  /** Its reason is a `Why`. */
  stop: AbortSignal;
};

export type Executor = {
  name: 'sandbox' | 'shell' | 'container';
  /** What the log says before a job. */
  notice: string;
  /** The same folders as the job sees them. */
  seen: (folders: Folders, job: Job) => Folders;
  /** Resolves when nothing of it is left. @throws where it cannot be started */
  run: (run: Run) => Promise<Ended>;
};

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
