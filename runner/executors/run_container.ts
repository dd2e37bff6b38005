/** Runs one script of a job in a separate container. */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Image } from '../coordinator/protocol.ts';
import { expandVariables } from '../job_variables.ts';
import { type Engine, runEngine, engineEnvironment, labelName, removeAll } from './container_engine.ts';
import { type Folders, type Run, type Setting, seenProjectPath } from './executor.ts';
import {
  type LocalImage,
  type PullPolicy,
  engineFolder,
  entrypointArguments,
  platformArguments,
} from './pull_images.ts';
import type { Limits } from './process_limits.ts';
import { signal } from './processes.ts';
import { type Ended, type User, runTree, startChild } from './run_process.ts';
import { type Running, environmentFile, hostArguments } from './start_services.ts';

export type ContainerParts = { engine: Engine; limits: Limits; pullPolicies: readonly PullPolicy[] };

const execute = promisify(execFile);

export const seen = (_folders: Folders, job: Run['job']): Folders => ({
  project: `/builds/${seenProjectPath(job)}`,
  objects: '/builds-objects',
  home: '/gantry-home',
  temp: '/tmp',
  files: '/gantry',
});

/** The init process of a container, which forwards signals; a separate package for podman. */
const hasInit = ({ name }: Engine): boolean => {
  const places = [
    '/usr/libexec/podman',
    '/usr/lib/podman',
    '/usr/local/libexec/podman',
    '/usr/bin',
    '/usr/local/bin',
  ];
  return name === 'docker' || places.some((folder) => existsSync(join(folder, 'catatonit')));
};

export const commonArguments = ({ processes, memory }: Limits): string[] => [
  ...'--cap-drop NET_RAW --cap-drop MKNOD --security-opt no-new-privileges --stop-timeout 0'.split(' '),
  `--pids-limit=${processes}`,
  ...(memory === null ? [] : [`--memory=${memory}b`, `--memory-swap=${memory}b`]),
];

/** Parts of a job other than its scripts. */
export type PreparedContainer = {
  setting: Setting;
  image: Image;
  localImage: LocalImage;
  network: string | null;
  services: Running[];
};

const mounts = (folders: Folders, inside: Folders): string[] => [
  '--volume',
  `${folders.project}:${inside.project}`,
  '--volume',
  `${folders.files}:${inside.files}`,
  '--volume',
  `${folders.objects}:${inside.objects}:ro`,
  '--volume',
  `${folders.home}:${inside.home}`,
];

const buildArguments = (
  { engine, limits }: ContainerParts,
  made: PreparedContainer,
  run: Run,
  name: string,
): string[] => {
  const { setting, image, localImage, network, services } = made;
  const inside = seen(run.folders, run.job);
  const entry = entrypointArguments(image, setting);
  const file = join(engineFolder(setting), 'job.env');
  const variables = new Map([...setting.values, ['HOME', inside.home], ['LANG', 'C.UTF-8']] as const);
  return [
    engine.program,
    'run',
    '--rm',
    '--interactive',
    ...(hasInit(engine) ? ['--init'] : []),
    '--name',
    name,
    '--label',
    `${labelName}=${setting.mark}`,
    '--network',
    network ?? 'bridge',
    ...hostArguments(services),
    ...commonArguments(limits),
    ...environmentFile(file, variables),
    ...mounts(run.folders, inside),
    '--workdir',
    inside.project,
    ...entry.before,
    ...platformArguments(image, setting),
    '--',
    localImage.name,
    ...entry.after,
    'sh',
  ];
};

/**
 * Started as `sh -c`, which every shell entry point accepts; uses bash if the image has it. The script's standard
 * input is empty.
 */
const starter = (script: string): string => {
  const exec = (shell: string): string => `exec ${shell} '${script}' </dev/null`;
  return `if command -v bash >/dev/null 2>&1; then ${exec('bash')}; else ${exec('sh')}; fi\n`;
};

const getWorkFolder = ({ home }: Folders): string => dirname(home);

/** Kill as root from outside: a program in the image could not end processes of root. */
const takeBack = async (folders: Folders, { uid, gid }: User): Promise<void> => {
  const { project, files, home } = folders;
  await execute('/bin/chown', ['-R', '-h', '-P', `${uid}:${gid}`, '--', project, files, home]);
  for (const own of [project, files, home]) chmodSync(own, 0o700);
  chmodSync(getWorkFolder(folders), 0o711);
};

/** Gives files of the container's users back to the runner's user. */
const giveBack = async (
  { engine }: ContainerParts,
  { folders }: Run,
  { name: image }: LocalImage,
): Promise<void> => {
  const { project, files, home } = folders;
  const jobFolders = [project, files, home];
  if (engine.name === 'podman') {
    await runEngine(engine, ['unshare', 'chown', '-R', '-h', '0:0', '--', ...jobFolders], {
      timeout: 60_000,
    });
    return;
  }
  const owner = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  const places = jobFolders.map((folder, index) => [folder, `/f${index}`] as const);
  const args = [
    ...'run --rm --network none --user 0 --entrypoint chown'.split(' '),
    ...places.flatMap(([from, to]) => ['--volume', `${from}:${to}`]),
    '--',
    image,
    '-R',
    '-h',
    owner,
    ...places.map(([, to]) => to),
  ];
  await runEngine(engine, args, { timeout: 60_000 });
};

const isRootUser = (user: string): boolean => /^(?:root|0)?(?::.*)?$/.test(user);

/**
 * A user other than root in the container needs open permissions. Other users of this machine cannot reach the
 * folder.
 */
const openTo = async ({ image, localImage, setting }: PreparedContainer, { folders }: Run): Promise<void> => {
  chmodSync(getWorkFolder(folders), 0o700);
  const user = expandVariables(String(image.executor_opts?.docker?.user ?? ''), setting.values);
  if (isRootUser(user || localImage.user)) return;
  const args = ['-R', 'a+rwX', '--', folders.project, folders.files, folders.home];
  await execute('/bin/chmod', args, { cwd: '/' }).catch(() => undefined);
};

export const runContainer = async (
  parts: ContainerParts,
  made: PreparedContainer,
  run: Run,
): Promise<Ended> => {
  const { engine } = parts;
  const name = `gantry-${run.mark}`;
  await openTo(made, run);
  const child = startChild({
    words: buildArguments(parts, made, run, name),
    environment: engineEnvironment(),
    cwd: '/',
    user: null, // the engine runs as our own user
    onOutput: run.onOutput,
    input: starter(join(seen(run.folders, run.job).files, run.script)),
  });
  const pid = child.pid ?? 0;
  let isOver = false;
  child.once('exit', () => void (isOver = true));
  const killTree = async (): Promise<void> => {
    if (pid === 0) return;
    // The engine removes the container when its client ends normally.
    const wasOver = isOver && child.signalCode === null;
    if (!wasOver) await removeAll(engine, [name], null);
    signal(-pid, 'SIGKILL');
  };
  // All processes except the first, which is ours.
  const terminate = (): void => void runEngine(engine, ['exec', name, 'sh', '-c', 'kill -TERM -1']);
  const ended = await runTree({ child, terminate, killTree }, run.stop);
  if (run.user !== null) await takeBack(run.folders, run.user);
  else if (process.getuid?.() !== 0) await giveBack(parts, run, made.localImage);
  return ended;
};
