/** One script of a job in a container of its own. */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Image } from '../protocol.ts';
import { expand } from '../variables.ts';
import { type Engine, ask, engineEnvironment, labelName, removeAll } from './engine.ts';
import { type Folders, type Run, type Setting, seenProjectPath } from './executor.ts';
import { type Found, type PullPolicy, engineFolder, entryWords, platformWords } from './images.ts';
import type { Limits } from './limits.ts';
import { signal } from './processes.ts';
import { type Ended, type User, runTree, startChild } from './run.ts';
import { type Running, environmentFile, hostWords } from './services.ts';

export type ContainerParts = { engine: Engine; limits: Limits; pullPolicies: readonly PullPolicy[] };

const execute = promisify(execFile);

export const seen = (_folders: Folders, job: Run['job']): Folders => ({
  project: `/builds/${seenProjectPath(job)}`,
  objects: '/builds-objects',
  home: '/gantry-home',
  temp: '/tmp',
  files: '/gantry',
});

/** The first process of a container, which passes signals on; podman has it in a package of its own. */
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

export const commonWords = ({ processes, memory }: Limits): string[] => [
  ...'--cap-drop NET_RAW --cap-drop MKNOD --security-opt no-new-privileges --stop-timeout 0'.split(' '),
  `--pids-limit=${processes}`,
  ...(memory === null ? [] : [`--memory=${memory}b`, `--memory-swap=${memory}b`]),
];

/** What a job has beside its scripts. */
export type Made = {
  setting: Setting;
  image: Image;
  found: Found;
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

const wordsOf = ({ engine, limits }: ContainerParts, made: Made, run: Run, name: string): string[] => {
  const { setting, image, found, network, services } = made;
  const inside = seen(run.folders, run.job);
  const entry = entryWords(image, setting);
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
    ...hostWords(services),
    ...commonWords(limits),
    ...environmentFile(file, variables),
    ...mounts(run.folders, inside),
    '--workdir',
    inside.project,
    ...entry.before,
    ...platformWords(image, setting),
    '--',
    found.name,
    ...entry.after,
    'sh',
  ];
};

/**
 * Read by a shell of the image, which is a word that any entry point of shells takes; bash where the image has it.
 * The script itself reads nothing.
 */
const starter = (script: string): string => {
  const exec = (shell: string): string => `exec ${shell} '${script}' </dev/null`;
  return `if command -v bash >/dev/null 2>&1; then ${exec('bash')}; else ${exec('sh')}; fi\n`;
};

const workOf = ({ home }: Folders): string => dirname(home);

/** As root, by ourselves: a program of the image would leave those standing that run with root's rights. */
const takeBack = async (folders: Folders, { uid, gid }: User): Promise<void> => {
  const { project, files, home } = folders;
  await execute('/bin/chown', ['-R', '-h', '-P', `${uid}:${gid}`, '--', project, files, home]);
  for (const own of [project, files, home]) chmodSync(own, 0o700);
  chmodSync(workOf(folders), 0o711);
};

/** Files that the container's users made are given back to us, who are not root. */
const giveBack = async (
  { engine }: ContainerParts,
  { folders }: Run,
  { name: image }: Found,
): Promise<void> => {
  const { project, files, home } = folders;
  const all = [project, files, home];
  if (engine.name === 'podman') {
    await ask(engine, ['unshare', 'chown', '-R', '-h', '0:0', '--', ...all], { timeout: 60_000 });
    return;
  }
  const owner = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  const places = all.map((folder, index) => [folder, `/f${index}`] as const);
  const words = [
    ...'run --rm --network none --user 0 --entrypoint chown'.split(' '),
    ...places.flatMap(([from, to]) => ['--volume', `${from}:${to}`]),
    '--',
    image,
    '-R',
    '-h',
    owner,
    ...places.map(([, to]) => to),
  ];
  await ask(engine, words, { timeout: 60_000 });
};

const isRootUser = (user: string): boolean => /^(?:root|0)?(?::.*)?$/.test(user);

/** Who is not root within gets at nothing of ours, but for what all may. Nobody else on this machine comes near. */
const openTo = async ({ image, found, setting }: Made, { folders }: Run): Promise<void> => {
  chmodSync(workOf(folders), 0o700);
  const asked = expand(String(image.executor_opts?.docker?.user ?? ''), setting.values);
  if (isRootUser(asked || found.user)) return;
  const words = ['-R', 'a+rwX', '--', folders.project, folders.files, folders.home];
  await execute('/bin/chmod', words, { cwd: '/' }).catch(() => undefined);
};

export const runContainer = async (parts: ContainerParts, made: Made, run: Run): Promise<Ended> => {
  const { engine } = parts;
  const name = `gantry-${run.mark}`;
  await openTo(made, run);
  const child = startChild({
    words: wordsOf(parts, made, run, name),
    environment: engineEnvironment(),
    cwd: '/',
    user: null, // an engine is asked by who may
    onOutput: run.onOutput,
    input: starter(join(seen(run.folders, run.job).files, run.script)),
  });
  const pid = child.pid ?? 0;
  let isOver = false;
  child.once('exit', () => void (isOver = true));
  const crush = async (): Promise<void> => {
    if (pid === 0) return;
    // Whose client has ended by itself was removed by it.
    const wasOver = isOver && child.signalCode === null;
    if (!wasOver) await removeAll(engine, [name], null);
    signal(-pid, 'SIGKILL');
  };
  // All but the first, which is ours.
  const soften = (): void => void ask(engine, ['exec', name, 'sh', '-c', 'kill -TERM -1']);
  const ended = await runTree({ child, soften, crush }, run.stop);
  if (run.user !== null) await takeBack(run.folders, run.user);
  else if (process.getuid?.() !== 0) await giveBack(parts, run, made.found);
  return ended;
};
