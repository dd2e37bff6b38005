/** Scripts as plain processes of this machine: for those who trust whoever may push. */
import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { type Group, makeGroup } from './cgroup.ts';
import { type Executor, type Run, cleanEnvironment } from './executor.ts';
import { limitWords, usualLimits } from './limits.ts';
import { descendantsOf, markName, marked, signal } from './processes.ts';
import { type Ended, runTree, startChild } from './run.ts';

/** Twice: one that is just being started has its mark only then. */
const sweep = (mark: string): void => {
  for (let round = 0; round < 10; round += 1) {
    const left = marked().filter((one) => one.mark === mark);
    for (const { pid } of left) signal(pid, 'SIGKILL');
    if (left.length === 0) return;
  }
};

/** Becomes the command when it is in its group, so that nothing is started outside. */
const waiter = 'read -r _ <&3; exec 3<&-; exec "$0" "$@"';

const letEnter = ({ entrance }: Group, { pid, stdio }: ChildProcess): void => {
  const word = stdio[3] as Duplex | null;
  word?.on('error', () => undefined);
  try {
    writeFileSync(entrance, String(pid ?? 0));
  } catch {
    // It has ended already.
  }
  word?.end('\n');
};

const runShell = async (run: Run): Promise<Ended> => {
  const { folders, script, user, mark, onOutput, stop } = run;
  const environment = { ...cleanEnvironment(folders.home, folders.temp), [markName]: mark };
  const shell = ['/bin/bash', '--noprofile', '--norc'];
  const group = makeGroup(mark, usualLimits.processes);
  const start = group === null ? [] : [...shell, '-c', waiter];
  const words = [...start, ...limitWords(usualLimits), ...shell, join(folders.files, script)];
  const pipes = group === null ? 0 : 1;
  const child = startChild({ words, environment, cwd: folders.project, user, onOutput, pipes });
  const pid = child.pid ?? 0;
  if (group !== null) letEnter(group, child);
  const crush = async (): Promise<void> => {
    if (pid === 0) return;
    const children = descendantsOf(pid);
    signal(-pid, 'SIGKILL');
    for (const one of children) signal(one.pid, 'SIGKILL');
    await group?.kill();
    sweep(mark);
  };
  const soften = (): void => {
    for (const one of descendantsOf(pid)) signal(one.pid, 'SIGTERM');
    signal(-pid, 'SIGTERM');
  };
  return await runTree({ child, soften, crush }, stop);
};

export const shellExecutor = (notice: string): Executor => ({
  name: 'shell',
  notice,
  seen: (folders) => folders,
  run: runShell,
});
