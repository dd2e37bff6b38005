/** Runs scripts as plain processes of this machine, for instances that trust all users who can push. */
import { join } from 'node:path';
import { makeGroup, startWithin } from './cgroup.ts';
import { type Executor, type Run, beginPlain, cleanEnvironment } from './executor.ts';
import { type Limits, limitArguments } from './process_limits.ts';
import { listDescendants, markName, marked, signal } from './processes.ts';
import { type Ended, runTree } from './run_process.ts';

/** Kills the processes with a mark, repeatedly: one that is just being started gets its mark a moment later. */
const killMarked = (mark: string): void => {
  for (let round = 0; round < 10; round += 1) {
    const remaining = marked().filter((one) => one.mark === mark);
    for (const { pid } of remaining) signal(pid, 'SIGKILL');
    if (remaining.length === 0) return;
  }
};

const runShell = async (run: Run, limits: Limits): Promise<Ended> => {
  const { folders, script, user, mark, onOutput, stop } = run;
  const environment = { ...cleanEnvironment(folders.home, folders.temp), [markName]: mark };
  const group = makeGroup(mark, limits);
  const args = [...limitArguments(limits), '/bin/bash', '--noprofile', '--norc', join(folders.files, script)];
  const child = startWithin(group, { words: args, environment, cwd: folders.project, user, onOutput });
  const pid = child.pid ?? 0;
  const killTree = async (): Promise<void> => {
    if (pid === 0) return;
    const children = listDescendants(pid);
    signal(-pid, 'SIGKILL');
    for (const descendant of children) signal(descendant.pid, 'SIGKILL');
    await group?.kill();
    killMarked(mark);
  };
  const terminate = (): void => {
    for (const descendant of listDescendants(pid)) signal(descendant.pid, 'SIGTERM');
    signal(-pid, 'SIGTERM');
  };
  return await runTree({ child, terminate, killTree }, stop);
};

export const shellExecutor = (notice: string, limits: Limits): Executor => ({
  name: 'shell',
  notice,
  builds: 'builds',
  seen: (folders) => folders,
  begin: beginPlain(async (run) => await runShell(run, limits)),
});
