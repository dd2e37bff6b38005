/** Settings of the built-in runner: executor, job limits and cache retention. */
import { resolve } from 'node:path';
import {
  type Field,
  type RunnerExecutor,
  readCount,
  readExecutor,
  readLimit,
  runnerExecutors,
} from './parse_values.ts';

/** Image pull policies, in the order tried if a job names none. Jobs may name only these. */
const pullPolicies = ['always', 'if-not-present', 'never'] as const;
type PullPolicy = (typeof pullPolicies)[number];

export type RunnerConfig = {
  /** Executor of the built-in runner; `none` disables it. */
  runner_executor: RunnerExecutor;
  /** Maximum concurrent jobs; null: one for each processor. */
  runner_concurrency: number | null;
  /** Working folder of jobs; null: a folder in the data folder. */
  runner_folder: string | null;
  /** Maximum megabytes of memory, and maximum processes, of one job; 0 megabytes: most of the machine's memory. */
  runner_memory: number;
  runner_processes: number;
  /** Maximum megabytes of a job's files; 0: unlimited. */
  runner_disk: number;
  /** Seconds without output after which a script is terminated. */
  runner_idle_timeout: number;
  /** Maximum megabytes of one log. */
  runner_log_limit: number;
  /** Maximum megabytes of all caches, and days after last use for which caches and sources are kept. */
  runner_cache_limit: number;
  runner_keep_days: number;
  runner_pull_policy: PullPolicy[];
};

/** Reads a number that is at least 1. */
const readAmount = (text: string): number => {
  const amount = readLimit(text);
  if (amount === 0) throw new Error('must be a whole number above 0');
  return amount;
};

const readPolicies = (text: string): PullPolicy[] => {
  const args = text.split(/[\s,]+/).filter((word) => word !== '');
  const policies = pullPolicies.filter((policy) => args.includes(policy));
  if (args.length === 0 || new Set(args).size > policies.length)
    throw new Error(`must be some of ${pullPolicies.join(', ')}`);
  return policies.toSorted((a, b) => args.indexOf(a) - args.indexOf(b));
};

export const runnerFields: { [N in keyof RunnerConfig]: Field<RunnerConfig[N]> } = {
  runner_executor: {
    flag: '--runner-executor',
    variable: 'GANTRY_RUNNER_EXECUTOR',
    default: 'auto',
    meaning: `how the built-in runner runs jobs: ${runnerExecutors.join(', ')}`,
    read: readExecutor,
  },
  runner_concurrency: {
    variable: 'GANTRY_RUNNER_CONCURRENCY',
    default: null,
    meaning: 'maximum concurrent jobs of the built-in runner; default: number of processors',
    read: readCount,
  },
  runner_folder: {
    variable: 'GANTRY_RUNNER_FOLDER',
    default: null,
    meaning:
      "working folder of the built-in runner's jobs; default: in the data folder, or for root in /var/lib/gantry-runner",
    read: (text) => resolve(text),
  },
  runner_memory: {
    variable: 'GANTRY_RUNNER_MEMORY',
    default: '0',
    meaning:
      'maximum megabytes of memory per job with control groups, otherwise per process; 0: three quarters of the machine per process',
    read: readLimit,
  },
  runner_processes: {
    variable: 'GANTRY_RUNNER_PROCESSES',
    default: '2048',
    meaning: 'maximum processes per job',
    read: readAmount,
  },
  runner_disk: {
    variable: 'GANTRY_RUNNER_DISK',
    default: '10240',
    meaning:
      'maximum megabytes of disk used by the files of a job; a job that exceeds it is terminated; 0: no limit',
    read: readLimit,
  },
  runner_idle_timeout: {
    variable: 'GANTRY_RUNNER_IDLE_TIMEOUT',
    default: '3600',
    meaning: 'seconds without output after which a script is terminated',
    read: readAmount,
  },
  runner_log_limit: {
    variable: 'GANTRY_RUNNER_LOG_LIMIT',
    default: '4',
    meaning: 'maximum megabytes of a job log of the built-in runner; later output is discarded',
    read: readAmount,
  },
  runner_cache_limit: {
    variable: 'GANTRY_RUNNER_CACHE_LIMIT',
    default: '10240',
    meaning:
      'maximum megabytes of all caches of the built-in runner; least recently used caches are removed first',
    read: readAmount,
  },
  runner_keep_days: {
    variable: 'GANTRY_RUNNER_KEEP_DAYS',
    default: '30',
    meaning: 'days after their last use until the built-in runner removes caches and sources',
    read: readAmount,
  },
  runner_pull_policy: {
    variable: 'GANTRY_RUNNER_PULL_POLICY',
    default: 'always',
    meaning: `image pull policies in order of preference (${pullPolicies.join(', ')}); jobs may choose only these`,
    read: readPolicies,
  },
};
