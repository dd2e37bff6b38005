/**
 * The last stage of the Dockerfile in a folder, assembled without a builder, and commands in it as in a container: under
 * bubblewrap, as the user of the image, with files that only it sees. The system and Node are those of this machine, so
 * what is not tested is the base image. Needs root, to give files to another user.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { keptPatterns, lastStage, restsOf, root } from './dockerfile.ts';

type Variables = Record<string, string>;

type Container = { child: ChildProcess; output: () => string; pid: () => Promise<number> };

export type AssembledImage = {
  folder: string;
  /** Starts `docker run IMAGE WORDS` with the entry point; without words, with the default command. */
  start: (env: Variables, words?: readonly string[]) => Container;
  /** Runs a command as `docker exec` does. @returns its output, and how it ended */
  exec: (env: Variables, words: readonly string[]) => Promise<{ code: number | null; output: string }>;
  /** The command of the health check. */
  healthCheck: readonly string[];
  remove: () => void;
};

/** What a container has of its own. */
const isolation =
  '--die-with-parent --clearenv --unshare-pid --as-pid-1 --proc /proc --dev /dev --tmpfs /tmp --chmod 1777 /tmp'.split(
    ' ',
  );

/** Folders of the machine that stand for the base image. */
const system = ['--ro-bind', '/usr', '/usr'];
const links = ['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]);
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Programs of the base image that this machine may lack, or has in another form. */
const standIns = {
  apk: '[ "$1" = add ]',
  adduser: `while getopts DHu:h: option; do
  case $option in u) id=$OPTARG ;; h) home=$OPTARG ;; D | H) ;; *) exit 1 ;; esac
done
shift $((OPTIND - 1))
echo "$1:x:$id:$id::$home:/bin/sh" >> /etc/passwd
echo "$1:x:$id:" >> /etc/group`,
  tini: '[ "$1" = -- ] && shift\nexec "$@"',
};

const parseWords = (text: string): string[] => JSON.parse(text) as string[];

/** Copies what an instruction copies from the clone, with the files that a build gets. */
const copyFromClone = (source: string, target: string): void => {
  const isWhole = source === 'dist' || keptPatterns.includes(source);
  const files = isWhole
    ? [source]
    : globSync(
        keptPatterns.filter((one) => one.startsWith(`${source}/`)),
        { cwd: root },
      );
  for (const file of files)
    cpSync(join(root, file), join(target, file.slice(source.length)), { recursive: true });
};

/** Obeys a COPY from the first stage. What it takes from there is in the clone, or made as its last RUN makes it. */
const copy = (rest: string, folder: string): void => {
  const [from, ...words] = rest.split(/\s+/);
  const target = words.pop() ?? '';
  if (from !== '--from=build') throw new Error(`COPY ${rest}`);
  for (const source of words) {
    const to = join(folder, target, target.endsWith('/') ? basename(source) : '');
    mkdirSync(join(to, '..'), { recursive: true });
    // Bound, because it is large.
    if (source === '/usr/local/bin/node') writeFileSync(to, '');
    else if (source === '/build/kept/node_modules') {
      execFileSync(process.execPath, [join(root, 'tools/copy_unbundled_packages.ts'), join(to, '..')]);
    } else copyFromClone(source.slice('/build/'.length), to);
  }
};

const top = ['usr/local', 'opt', 'data', 'backups', 'etc', 'stand-ins'];

/** Options of bubblewrap for commands in the folder. */
const bindings = (folder: string, isBuilt: boolean): string[] => [
  ...isolation,
  ...system,
  ...links,
  // As `read_only: true` of the compose file.
  ...top.flatMap((name) => [
    isBuilt && name !== 'data' && name !== 'backups' ? '--ro-bind' : '--bind',
    join(folder, name),
    `/${name}`,
  ]),
  '--ro-bind',
  process.execPath,
  '/usr/local/bin/node',
];

const toOptions = (env: Variables): string[] =>
  Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]);

const prepare = (folder: string): void => {
  for (const name of [...top, 'usr/local/bin']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\n');
  writeFileSync(join(folder, 'etc/group'), 'root:x:0:\n');
  for (const [name, code] of Object.entries(standIns)) {
    writeFileSync(join(folder, 'stand-ins', name), `#!/bin/sh\n${code}\n`);
    chmodSync(join(folder, 'stand-ins', name), 0o755);
  }
  chmodSync(folder, 0o755);
};

/** Runs a RUN as root, with the programs of the base image. */
const build = (rest: string, folder: string, revision: string): void => {
  const env = toOptions({ PATH: `/stand-ins:${path}`, REVISION: revision });
  const options = [...bindings(folder, false), ...env, '--cap-add', 'ALL'];
  execFileSync('bwrap', [...options, 'sh', '-euc', rest], { stdio: ['ignore', 'ignore', 'pipe'] });
};

const setting = (name: string): string => restsOf(name, lastStage).at(-1) ?? '';

/** Variables that ENV sets. */
export const imageEnv = (): Variables =>
  Object.fromEntries(
    restsOf('ENV', lastStage)
      .flatMap((rest) => rest.split(/\s+/))
      .map((word) => word.split('=', 2) as [string, string]),
  );

/** Options and words that make a command run as the user of the image, with no capability. */
const asUser = (): { options: string[]; words: string[] } => {
  const [user = '', group = ''] = setting('USER').split(':');
  const capabilities = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'];
  return {
    options: ['--chdir', setting('WORKDIR'), ...capabilities.flatMap((one) => ['--cap-add', one])],
    words: [
      'setpriv',
      `--reuid=${user}`,
      `--regid=${group}`,
      '--clear-groups',
      '--bounding-set=-all',
      '--inh-caps=-all',
      '--no-new-privs',
    ],
  };
};

/** @param revision commit that the build is told of */
export const assembleImage = (revision: string): AssembledImage => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-image-'));
  prepare(folder);
  for (const { name, rest } of lastStage) {
    if (name === 'COPY') copy(rest, folder);
    if (name === 'RUN') build(rest, folder, revision);
  }

  const begin = (env: Variables, words: readonly string[]): ChildProcess => {
    const user = asUser();
    const variables = toOptions({ PATH: `${path}:/stand-ins`, ...imageEnv(), ...env });
    const args = [...bindings(folder, true), ...variables, ...user.options, '--json-status-fd', '3'];
    return spawn('bwrap', [...args, ...user.words, ...words], { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  };

  return {
    folder,
    start: (env, words = parseWords(setting('CMD'))) => {
      const child = begin(env, [...parseWords(setting('ENTRYPOINT')), ...words]);
      let [output, status] = ['', ''];
      for (const stream of [child.stdout, child.stderr])
        stream?.setEncoding('utf8').on('data', (part: string) => void (output += part));
      const pid = Promise.withResolvers<number>();
      (child.stdio[3] as Readable).setEncoding('utf8').on('data', (part: string) => {
        status += part;
        const found = /"child-pid": ?(\d+)/.exec(status);
        if (found !== null) pid.resolve(Number(found[1]));
      });
      return { child, output: () => output, pid: async () => await pid.promise };
    },
    exec: async (env, words) => {
      const child = begin(env, words);
      const closed = Promise.withResolvers<number | null>();
      child.once('close', closed.resolve);
      (child.stdio[3] as Readable).resume();
      const parts = await Promise.all(
        [child.stdout, child.stderr].map(async (one) => (one ? await text(one) : '')),
      );
      return { code: await closed.promise, output: parts.join('') };
    },
    healthCheck: parseWords(setting('HEALTHCHECK').replace(/^.*? CMD /, '')),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
