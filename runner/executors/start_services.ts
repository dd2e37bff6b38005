/** Starts service containers of a job, such as databases, under the names by which the job reaches them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Service, Variable } from '../coordinator/protocol.ts';
import { expandVariables } from '../job_variables.ts';
import { type Engine, runEngine, runEngineJson, labelName } from './container_engine.ts';
import type { Setting } from './executor.ts';
import { type LocalImage, engineFolder, entrypointArguments, platformArguments } from './pull_images.ts';

export type Running = {
  /** Id of the container. */
  container: string;
  image: LocalImage;
  aliases: string[];
  /** Address in the job's network; null: none yet. */
  address: string | null;
  /** The service counts as ready when one of these ports is open. */
  ports: number[];
};

const isHostName = (text: string): boolean => /^[A-Za-z0-9_](?:[\w.-]{0,251}[A-Za-z0-9_])?$/.test(text);

/** Lists host names: `registry__a__b` and `registry-a-b` for `registry:5000/a/b:tag`, and the aliases of the job. */
export const listAliases = ({ alias }: Service, image: string): string[] => {
  const path = image
    .replace(/@.*$/, '')
    .replace(/:[^/:]*$/, '')
    .replace(/^([^/]*):\d+\//, '$1/');
  const aliases = (alias ?? '').split(/[\s,]+/);
  const names = [path.replaceAll('/', '__'), path.replaceAll('/', '-'), ...aliases];
  return [...new Set(names)].filter(isHostName);
};

/** Builds a service's environment: the job's public variables and its own. Skips values with line ends. */
const buildEnvironment = ({ variables }: Service, { job, values }: Setting): [string, string][] => {
  const isPublic = (one: Variable): boolean =>
    one.public === true && one.masked !== true && one.file !== true;
  const publicKeys = job.variables.filter(isPublic).map(({ key }) => key);
  const ofJob = publicKeys.map((key) => [key, values.get(key) ?? ''] as const);
  const own = new Map(values);
  for (const { key, value, raw } of variables ?? [])
    own.set(key, raw === true ? value : expandVariables(value, values));
  const ofService = (variables ?? []).map(({ key }) => [key, own.get(key) ?? ''] as const);
  return [...new Map([...ofJob, ...ofService])];
};

/** Writes variables to a file and returns the arguments that load it: command lines are visible to all users. */
export const environmentFile = (file: string, pairs: Iterable<readonly [string, string]>): string[] => {
  const lines = [...pairs].filter(([key, value]) => /^[A-Za-z_]\w*$/.test(key) && !/[\r\n\0]/.test(value));
  writeFileSync(file, lines.map(([key, value]) => `${key}=${value}\n`).join(''), { mode: 0o600 });
  return ['--env-file', file];
};

export const hostArguments = (services: readonly Running[]): string[] =>
  services.flatMap(({ aliases, address }) =>
    address === null ? [] : aliases.flatMap((alias) => ['--add-host', `${alias}:${address}`]),
  );

type State = {
  State?: {
    Running?: boolean;
    Pid?: number;
    Health?: { Status?: string } | null;
    Healthcheck?: { Status?: string } | null;
  };
  NetworkSettings?: { Networks?: Record<string, { IPAddress?: string }> | null };
};

const readState = async (engine: Engine, container: string): Promise<State | null> =>
  await runEngineJson<State>(engine, ['inspect', '--type', 'container', container]);

const getAddress = (state: State | null): string | null =>
  Object.values(state?.NetworkSettings?.Networks ?? {}).find(({ IPAddress }) => IPAddress)?.IPAddress ?? null;

export type ServiceParts = {
  engine: Engine;
  setting: Setting;
  network: string;
  /** Limits and other arguments of all containers. */
  common: readonly string[];
};

/** Starts a service. @throws if the engine refuses */
export const startService = async (
  parts: ServiceParts,
  service: Service,
  { image, container, before }: { image: LocalImage; container: string; before: readonly Running[] },
): Promise<Running> => {
  const { engine, setting, network, common } = parts;
  const aliases = listAliases(service, image.name);
  const environment = buildEnvironment(service, setting);
  const file = join(engineFolder(setting), 'service.env');
  const entry = entrypointArguments(service, setting);
  const args = [
    'run',
    '--detach',
    '--name',
    container,
    '--label',
    `${labelName}=${setting.mark}`,
    '--network',
    network,
    ...aliases.flatMap((alias) => ['--network-alias', alias]),
    ...hostArguments(before),
    ...common,
    ...environmentFile(file, environment),
    ...entry.before,
    ...platformArguments(service, setting),
    '--',
    image.name,
    ...entry.after,
    ...(service.command ?? []),
  ];
  const { code, complaint } = await runEngine(engine, args, { timeout: 60_000, stop: setting.stop });
  setting.stop.throwIfAborted();
  if (code !== 0) throw new Error(`the service ${image.name} does not start: ${complaint}`);
  const address = getAddress(await readState(engine, container));
  const port = Number(new Map(environment).get('HEALTHCHECK_TCP_PORT') ?? Number.NaN);
  const ports = port > 0 && port < 65_536 ? [port] : image.ports;
  return { container, image, aliases, address, ports };
};

/** Returns the ports that listen, from the kernel's table of sockets. */
const parseListeningPorts = (table: string): Set<number> => {
  const rows = table.matchAll(/^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]+ 0A /gm);
  return new Set([...rows].map(([, port = '']) => Number.parseInt(port, 16)));
};

const tables = ['/net/tcp', '/net/tcp6'];

/** Reads the host's `/proc` for a local engine; otherwise runs `cat` in the container, which must have it. */
const listOpenPorts = async (engine: Engine, container: string, pid: number): Promise<Set<number>> => {
  try {
    return parseListeningPorts(
      tables.map((table) => readFileSync(`/proc/${pid}${table}`, 'utf8')).join('\n'),
    );
  } catch {
    const { output } = await runEngine(engine, [
      'exec',
      container,
      'cat',
      ...tables.map((table) => `/proc${table}`),
    ]);
    return parseListeningPorts(output);
  }
};

/** Returns whether a service is ready; false if it has ended; null: not yet, or that cannot be seen. */
const isUp = async (engine: Engine, { container, ports }: Running): Promise<boolean | null> => {
  const state = (await readState(engine, container))?.State;
  if (state?.Running === false) return false;
  if (state?.Health?.Status === 'healthy') return true;
  if (ports.length === 0) return null;
  const open = await listOpenPorts(engine, container, state?.Pid ?? 0);
  return ports.some((port) => open.has(port)) ? true : null;
};

/** Milliseconds. */
const startTimeout = 30_000;
const pause = 100;
const shownLines = '50';

const warnNotStarted = async (
  { engine, setting }: ServiceParts,
  service: Running,
  why: string,
): Promise<void> => {
  const { say } = setting;
  say(`\n*** WARNING: Service ${service.image.name} probably didn't start properly.`, 'yellow');
  say(`\nHealth check error:\n${why}\n\nService container logs:`);
  say((await readServiceLogs(engine, service)) || '(none)');
  say('\n*********\n', 'yellow');
};

/** Returns the last lines of a service's log. */
export const readServiceLogs = async (engine: Engine, { container }: Running): Promise<string> => {
  const { output, complaint } = await runEngine(engine, ['logs', '--tail', shownLines, container]);
  return [output.trimEnd(), complaint].filter((text) => text !== '').join('\n');
};

const waitFor = async (parts: ServiceParts, service: Running): Promise<void> => {
  const { engine, setting } = parts;
  const isObservable = service.ports.length > 0 || service.image.hasHealthCheck;
  const end = performance.now() + (isObservable ? startTimeout : 0);
  for (;;) {
    const up = await isUp(engine, service);
    setting.stop.throwIfAborted();
    if (up === true) return;
    if (up === false) return await warnNotStarted(parts, service, 'it has ended');
    if (performance.now() > end) break;
    await wait(pause, undefined, { signal: setting.stop });
  }
  if (isObservable)
    await warnNotStarted(parts, service, `nothing listens after ${startTimeout / 1000} seconds`);
};

/** Waits until each service is ready or timed out; the job begins in any case. */
export const waitForServices = async (parts: ServiceParts, services: readonly Running[]): Promise<void> => {
  parts.setting.say(`Waiting for services to be up and running (timeout ${startTimeout / 1000} seconds)...`);
  await Promise.all(services.map(async (service) => await waitFor(parts, service)));
};
