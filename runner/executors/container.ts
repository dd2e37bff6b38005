/** Scripts in a container of the image that a job names, by podman or docker. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Executor, type Folders, type Run, cleanEnvironment, seenProjectPath } from './executor.ts';
import { usualLimits } from './limits.ts';
import { signal } from './processes.ts';
import { type Ended, type User, runTree, startChild } from './run.ts';

export type Engine = { program: string; name: 'podman' | 'docker' };

const execute = promisify(execFile);

/** Only what engines themselves read: nothing of a job's, for that would be read by a program of ours. */
const engineEnvironment = (): Record<string, string> => {
  const kept = ['PATH', 'HOME', 'XDG_RUNTIME_DIR', 'DOCKER_HOST', 'DOCKER_CONFIG', 'CONTAINER_HOST'];
  return Object.fromEntries(kept.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
};

const seen = (_folders: Folders, job: Run['job']): Folders => ({
  project: `/builds/${seenProjectPath(job)}`,
  objects: '/builds-objects',
  home: '/gantry-home',
  temp: '/tmp',
  files: '/gantry',
});

/** The shell that the image has. */
const starter = 'if command -v bash >/dev/null 2>&1; then exec bash "$0"; else exec sh "$0"; fi';

const wordsOf = ({ program }: Engine, run: Run, name: string): string[] => {
  const { folders, job, image, script } = run;
  const inside = seen(folders, job);
  const { HOME, LANG } = cleanEnvironment(inside.home, inside.temp);
  return [
    program,
    'run',
    '--rm',
    '--init',
    '--name',
    name,
    '--network',
    'bridge',
    ...'--cap-drop NET_RAW --cap-drop MKNOD --security-opt no-new-privileges'.split(' '),
    `--pids-limit=${usualLimits.processes}`,
    '--env',
    `HOME=${HOME}`,
    '--env',
    `LANG=${LANG}`,
    '--volume',
    `${folders.project}:${inside.project}`,
    '--volume',
    `${folders.files}:${inside.files}`,
    '--volume',
    `${folders.objects}:${inside.objects}:ro`,
    '--volume',
    `${folders.home}:${inside.home}`,
    '--workdir',
    inside.project,
    '--entrypoint',
    'sh',
    '--',
    image ?? '',
    '-c',
    starter,
    join(inside.files, script),
  ];
};

/** As root, by ourselves: a program of the image would leave those standing that run with root's rights. */
const takeBack = async ({ project, files, home }: Folders, { uid, gid }: User): Promise<void> =>
  void (await execute('/bin/chown', ['-R', '-h', '-P', `${uid}:${gid}`, '--', project, files, home]));

/** Files that the container's root made are given back to us. */
const giveBack = async ({ program }: Engine, { folders, image }: Run): Promise<void> => {
  const owner = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  const places = [folders.project, folders.files, folders.home].map((folder, index) => [
    folder,
    `/f${index}`,
  ]);
  const args = [
    ...'run --rm --network none --user 0 --entrypoint chown'.split(' '),
    ...places.flatMap(([from, to]) => ['--volume', `${from}:${to}`]),
    '--',
    image ?? '',
    '-R',
    '-h',
    owner,
    ...places.map(([, to]) => to ?? ''),
  ];
  await execute(program, args, { env: engineEnvironment(), timeout: 60_000 }).catch(() => undefined);
};

const runContainer = async (engine: Engine, run: Run): Promise<Ended> => {
  const name = `gantry-${run.mark}`;
  const child = startChild({
    words: wordsOf(engine, run, name),
    environment: engineEnvironment(),
    cwd: '/',
    user: null, // an engine is asked by who may
    onOutput: run.onOutput,
  });
  const pid = child.pid ?? 0;
  const engineDoes = async (...args: string[]): Promise<void> => {
    await execute(engine.program, args, { env: engineEnvironment(), timeout: 10_000 }).catch(() => undefined);
  };
  let isOver = false;
  child.once('exit', () => void (isOver = true));
  const crush = async (): Promise<void> => {
    if (pid === 0) return;
    // Whose client has ended by itself was removed by it.
    const wasOver = isOver && child.signalCode === null;
    signal(-pid, 'SIGKILL');
    if (!wasOver) await engineDoes('rm', '--force', name);
  };
  const soften = (): void => void engineDoes('kill', '--signal', 'TERM', name);
  const ended = await runTree({ child, soften, crush }, run.stop);
  if (run.user !== null) await takeBack(run.folders, run.user);
  else if (engine.name === 'docker') await giveBack(engine, run);
  return ended;
};

export const containerExecutor = (engine: Engine): Executor => ({
  name: 'container',
  notice: `Runs in a container of ${engine.name}.`,
  seen,
  run: async (run) => await runContainer(engine, run),
});
