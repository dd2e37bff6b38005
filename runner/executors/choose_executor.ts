/** Detects the executors of this machine and chooses one for each job. */
import { execFile } from 'node:child_process';
import { accessSync, chmodSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { Job } from '../coordinator/protocol.ts';
import { containerExecutor } from './container_executor.ts';
import { type Engine, endContainers } from './container_engine.ts';
import type { Executor } from './executor.ts';
import { type Limits, usualLimits } from './process_limits.ts';
import type { PullPolicy } from './pull_images.ts';
import { findNameServers } from './name_servers.ts';
import type { NetworkTools } from './sandbox_network.ts';
import type { User } from './run_process.ts';
import { type SandboxTools, runInSandbox, sandboxExecutor } from './sandbox_executor.ts';
import { shellExecutor } from './shell_executor.ts';

export const executorNames = ['auto', 'sandbox', 'container', 'shell'] as const;
export type ExecutorName = (typeof executorNames)[number];

export type Choice = {
  /** Name reported to the coordinator. */
  name: string;
  /** Notices for the administrator, a line each. */
  notices: string[];
  /** The executor of a job, or a string with the reason why there is none. */
  choose: (job: Job) => { executor: Executor; notices: string[] } | string;
  /** Removes containers of runners that no longer run. @returns how many */
  sweep: (isLeft: (mark: string) => boolean) => Promise<number>;
};

export type ChoiceParts = {
  requested: ExecutorName;
  /** Returns whether the instance is reachable only from this machine. */
  isLocal: boolean;
  /** A folder of the runner that the jobs' user may read. */
  folder: string;
  user: User | null;
  limits?: Limits;
  /** Default pull policies. */
  pullPolicies?: readonly PullPolicy[];
  /** Finds a program; null if missing. */
  tools?: (program: string) => string | null;
};

const execute = promisify(execFile);

const find = (program: string): string | null => {
  const path = process.env['PATH'] ?? ['/usr/local/bin', '/usr/bin', '/bin'].join(delimiter);
  // `ip` is in a folder outside the search path of ordinary users.
  const files = [...path.split(delimiter), '/usr/sbin', '/sbin']
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, program));
  const isProgram = (file: string): boolean => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  };
  return files.find(isProgram) ?? null;
};

const writeEtc = (folder: string): string => {
  const etc = join(folder, 'etc');
  mkdirSync(etc, { recursive: true });
  chmodSync(etc, 0o755);
  const files = {
    passwd: 'root:x:0:0:root:/root:/usr/sbin/nologin\njob:x:1000:1000:job:/home/job:/bin/bash\n',
    group: 'root:x:0:\njob:x:1000:\n',
    hosts: '127.0.0.1 localhost job\n::1 localhost\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(etc, name), text);
    chmodSync(join(etc, name), 0o644);
  }
  return etc;
};

/** Checks the sandbox with an empty command. @throws the reason why it does not work */
const probe = async (tools: SandboxTools, user: User | null): Promise<void> => {
  let complaint = '';
  const { code } = await runInSandbox({
    tools,
    binds: [],
    command: ['/bin/bash', '-c', 'exit 0'],
    environment: { PATH: '/usr/bin:/bin' },
    user,
    limits: usualLimits,
    mark: null,
    onOutput: (chunk) => void (complaint = (complaint + chunk.toString()).slice(-1_000)),
    stop: AbortSignal.timeout(probeTimeout),
  });
  if (code !== 0) throw new Error(complaint.trim());
};

const probeTimeout = 10_000;

const getReason = (error: unknown): string => (error as Error).message.trim().replaceAll('\n', '; ');

/** @returns the programs needed for a network, or the name of a missing one */
const findNetworkTools = (lookFor: typeof find): NetworkTools | string => {
  const [slirp, ip, nsenter] = ['slirp4netns', 'ip', 'nsenter'].map(lookFor);
  if (!slirp) return 'slirp4netns is not installed';
  if (!ip) return 'ip (iproute2) is not installed';
  if (!nsenter) return 'nsenter (util-linux) is not installed';
  return { slirp, ip, nsenter };
};

/** Since release 0.7. */
const sizesFolders = async (bwrap: string): Promise<boolean> =>
  await execute(bwrap, ['--help']).then(
    ({ stdout }) => stdout.includes('--size'),
    () => false,
  );

/** @returns the tools, or the reason why no sandbox is available */
const findSandbox = async (parts: ChoiceParts): Promise<SandboxTools | string> => {
  const { folder, user, tools: lookFor = find } = parts;
  const bwrap = lookFor('bwrap');
  if (process.platform !== 'linux') return 'sandboxes require Linux';
  if (bwrap === null) return 'bubblewrap (bwrap) is not installed';
  const network = findNetworkTools(lookFor);
  const lack = typeof network === 'string' ? network : '';
  const alone = {
    bwrap,
    network: null,
    lack,
    sizesFolders: await sizesFolders(bwrap),
    etc: writeEtc(folder),
  };
  try {
    await probe(alone, user);
  } catch (error) {
    return `bubblewrap does not work here (${getReason(error)})`;
  }
  try {
    if (typeof network === 'string') return alone;
    await probe({ ...alone, network }, user);
    return { ...alone, network };
  } catch (error) {
    return { ...alone, lack: `slirp4netns does not work here (${getReason(error)})` };
  }
};

const findEngine = async (lookFor: typeof find): Promise<Engine | string> => {
  for (const name of ['podman', 'docker'] as const) {
    const program = lookFor(name);
    if (program === null) continue;
    const format = name === 'docker' ? '{{.Server.Version}}' : '{{.Client.Version}}';
    const works = await execute(program, ['version', '--format', format], { timeout: 10_000 }).catch(
      () => null,
    );
    if (works !== null) return { program, name };
  }
  return 'neither podman nor docker answers';
};

const shellNotice =
  'Runs as a plain process of this machine, without a sandbox: anyone who can push to a project can run commands here.';

/** Chooses the executor for jobs without an image, with notices. */
const findPlain = async (parts: ChoiceParts): Promise<{ plain: Executor | null; notices: string[] }> => {
  const { requested, isLocal, limits = usualLimits } = parts;
  if (requested === 'container') return { plain: null, notices: [] };
  if (requested === 'shell') return { plain: shellExecutor(shellNotice, limits), notices: [shellNotice] };
  const tools = await findSandbox(parts);
  if (typeof tools !== 'string') {
    const plain = sandboxExecutor(tools, limits);
    return { plain, notices: tools.network === null || findNameServers().length === 0 ? [plain.notice] : [] };
  }
  if (requested === 'sandbox') return { plain: null, notices: [`No sandbox is available: ${tools}.`] };
  if (isLocal) {
    const notice = `No sandbox is available: ${tools}. ${shellNotice}`;
    return { plain: shellExecutor(notice, limits), notices: [notice] };
  }
  const advice = 'Install it, or choose another executor (GANTRY_RUNNER_EXECUTOR).';
  return { plain: null, notices: [`No sandbox is available: ${tools}. ${advice}`] };
};

/** Detects the executors once, at the start. Null as choice: no job can run here. */
export const chooseExecutors = async (
  parts: ChoiceParts,
): Promise<{ choice: Choice | null; notices: string[] }> => {
  const { plain, notices } = await findPlain(parts);
  const mayContain = parts.requested === 'auto' || parts.requested === 'container';
  const engine = mayContain ? await findEngine(parts.tools ?? find) : 'containers are not used here';
  const { limits = usualLimits, pullPolicies = ['always'] } = parts;
  const container = typeof engine === 'string' ? null : containerExecutor({ engine, limits, pullPolicies });
  if (parts.requested === 'container' && typeof engine === 'string')
    notices.push(`No containers: ${engine}.`);
  if (plain === null && container === null) return { choice: null, notices };
  const choose: Choice['choose'] = ({ image, services }) => {
    if (image && container !== null) return { executor: container, notices: [] };
    if (plain === null) return 'This runner runs only jobs that name an `image`.';
    const needed = container === null ? 'containers are not available' : 'the job names no `image`';
    const unused = (services ?? []).length > 0 ? [`\`services\` are not run: ${needed}.`] : [];
    const ignored = image ? ['`image` is ignored: containers are not available.'] : [];
    return { executor: plain, notices: [...ignored, ...unused] };
  };
  const name = [plain, container].flatMap((one) => (one === null ? [] : [one.name])).join('+');
  const sweep: Choice['sweep'] = async (isLeft) =>
    typeof engine === 'string' ? 0 : await endContainers(engine, isLeft);
  return { choice: { name, notices, choose, sweep }, notices };
};
