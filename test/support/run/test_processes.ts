/** Runs the planned test files in as many processes as there are processors, and reports each as it ends. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from './run_command.ts';
import { type EngineName, type Work, takeGroup } from './plan.ts';
import { type Result, doneFiles, readResult } from './step_results.ts';

export type Options = {
  scratch: string;
  /** Returns the environment of an engine's tests. Called once for each process. */
  environment: (engine: EngineName) => Promise<NodeJS.ProcessEnv>;
  /** Seconds after which a test is ended. */
  timeout: number;
  /** Time limit of a process, in minutes. */
  minutes: number;
  processes: number;
};

/** A process of tests lives for seconds: with a small young generation, a fifth of them would be spent on collections. */
const nodeFlags = ['--min-semi-space-size=64', '--max-semi-space-size=64', '--no-parallel-scavenge'];

const readIfThere = (file: string): string => readFileSync(file, { encoding: 'utf8', flag: 'a+' });

let started = 0;
/** Logs of the running processes. */
const logs = new Map<string, Work[]>();

const readFinished = (log: string): string[] => doneFiles(readIfThere(log));

/** Counts the files that ended in running processes, and names the file that each process is at. */
export const filesInProcesses = (): { done: number; running: string[] } => {
  const states = [...logs].map(([log, group]) => {
    const finished = readFinished(log);
    return { done: finished.length, running: group.find(({ file }) => !finished.includes(file))?.file ?? '' };
  });
  return {
    done: states.reduce((sum, { done }) => sum + done, 0),
    running: states.map(({ running }) => running).filter((file) => file !== ''),
  };
};

/** Runs the files in one process. */
export const runGroup = async (group: Work[], options: Options): Promise<Result> => {
  const { minutes } = options;
  const [engine, files] = [group[0]?.engine ?? 'sqlite', group.map(({ file }) => file)];
  started += 1;
  const folder = join(options.scratch, `${engine}-${started}`);
  mkdirSync(folder);
  const [log, begun] = [`${folder}.log`, `${folder}.begun`];
  logs.set(log, group);
  try {
    const env = { ...(await options.environment(engine)), TMPDIR: folder, TEST_BEGUN: begun };
    const args = [
      ...nodeFlags,
      '--test-reporter=./test/support/run/reporter.ts',
      `--test-reporter-destination=${log}`,
      `--test-timeout=${options.timeout * 1000}`,
      'test/support/run/one_process.ts',
      ...files,
    ];
    const ended = await runCommand({ program: process.execPath, args, env, seconds: minutes * 60 });
    return readResult(ended, readIfThere(log), readIfThere(begun), minutes);
  } finally {
    logs.delete(log);
    for (const path of [folder, log, begun]) rmSync(path, { recursive: true, force: true });
  }
};

/** Runs all the work; calls back with each group as it ends. */
export const runWork = async (
  work: Work[],
  options: Options,
  ended: (group: Work[], result: Result) => void,
): Promise<void> => {
  const remaining = [...work];
  const next = async (): Promise<void> => {
    for (
      let group = takeGroup(remaining, options.processes);
      group.length > 0;
      group = takeGroup(remaining, options.processes)
    )
      ended(group, await runGroup(group, options));
  };
  await Promise.all(Array.from({ length: options.processes }, next));
};
