/** Containers beside a job's own: databases and the like, under the names by which the job calls them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Service, Variable } from '../protocol.ts';
import { expand } from '../variables.ts';
import { type Engine, ask, askJson, labelName } from './engine.ts';
import type { Setting } from './executor.ts';
import { type Found, engineFolder, entryWords, platformWords } from './images.ts';

export type Running = {
  /** Of the container. */
  container: string;
  image: Found;
  aliases: string[];
  /** Address in the job's network; null: it has none yet. */
  address: string | null;
  /** One of them is to be listened on before the job begins. */
  ports: number[];
};

const isHostName = (text: string): boolean => /^[A-Za-z0-9_](?:[\w.-]{0,251}[A-Za-z0-9_])?$/.test(text);

/** `registry:5000/a/b:tag` is called `registry__a__b` and `registry-a-b`, and as the job says. */
export const aliasesOf = ({ alias }: Service, image: string): string[] => {
  const path = image
    .replace(/@.*$/, '')
    .replace(/:[^/:]*$/, '')
    .replace(/^([^/]*):\d+\//, '$1/');
  const given = (alias ?? '').split(/[\s,]+/);
  const all = [path.replaceAll('/', '__'), path.replaceAll('/', '-'), ...given];
  return [...new Set(all)].filter(isHostName);
};

/** What everybody may read of the job, and what its own says. Line ends cannot be told to it. */
const environmentOf = ({ variables }: Service, { job, values }: Setting): [string, string][] => {
  const isOpen = (one: Variable): boolean => one.public === true && one.masked !== true && one.file !== true;
  const open = job.variables.filter(isOpen).map(({ key }) => key);
  const ofJob = open.map((key) => [key, values.get(key) ?? ''] as const);
  const own = new Map(values);
  for (const { key, value, raw } of variables ?? [])
    own.set(key, raw === true ? value : expand(value, values));
  const ofService = (variables ?? []).map(({ key }) => [key, own.get(key) ?? ''] as const);
  return [...new Map([...ofJob, ...ofService])];
};

/** Variables in a file: on a command line all of the machine would read them. */
export const environmentFile = (file: string, pairs: Iterable<readonly [string, string]>): string[] => {
  const lines = [...pairs].filter(([key, value]) => /^[A-Za-z_]\w*$/.test(key) && !/[\r\n\0]/.test(value));
  writeFileSync(file, lines.map(([key, value]) => `${key}=${value}\n`).join(''), { mode: 0o600 });
  return ['--env-file', file];
};

export const hostWords = (services: readonly Running[]): string[] =>
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

const stateOf = async (engine: Engine, container: string): Promise<State | null> =>
  await askJson<State>(engine, ['inspect', '--type', 'container', container]);

const addressOf = (state: State | null): string | null =>
  Object.values(state?.NetworkSettings?.Networks ?? {}).find(({ IPAddress }) => IPAddress)?.IPAddress ?? null;

export type ServiceParts = {
  engine: Engine;
  setting: Setting;
  network: string;
  /** Limits and the like, of all containers. */
  common: readonly string[];
};

/** @throws where the engine does not start it */
export const startService = async (
  parts: ServiceParts,
  service: Service,
  { image, container, before }: { image: Found; container: string; before: readonly Running[] },
): Promise<Running> => {
  const { engine, setting, network, common } = parts;
  const aliases = aliasesOf(service, image.name);
  const environment = environmentOf(service, setting);
  const file = join(engineFolder(setting), 'service.env');
  const entry = entryWords(service, setting);
  const words = [
    'run',
    '--detach',
    '--name',
    container,
    '--label',
    `${labelName}=${setting.mark}`,
    '--network',
    network,
    ...aliases.flatMap((alias) => ['--network-alias', alias]),
    ...hostWords(before),
    ...common,
    ...environmentFile(file, environment),
    ...entry.before,
    ...platformWords(service, setting),
    '--',
    image.name,
    ...entry.after,
    ...(service.command ?? []),
  ];
  const { code, complaint } = await ask(engine, words, { timeout: 60_000, stop: setting.stop });
  setting.stop.throwIfAborted();
  if (code !== 0) throw new Error(`the service ${image.name} does not start: ${complaint}`);
  const address = addressOf(await stateOf(engine, container));
  const said = Number(new Map(environment).get('HEALTHCHECK_TCP_PORT') ?? Number.NaN);
  const ports = said > 0 && said < 65_536 ? [said] : image.ports;
  return { container, image, aliases, address, ports };
};

/** Ports that are listened on, by the kernel's own list. */
const listening = (table: string): Set<number> => {
  const rows = table.matchAll(/^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]+ 0A /gm);
  return new Set([...rows].map(([, port = '']) => Number.parseInt(port, 16)));
};

const tables = ['/net/tcp', '/net/tcp6'];

/** Of an engine on this machine we read it ourselves; else the container has to have a program for that. */
const portsOf = async (engine: Engine, container: string, pid: number): Promise<Set<number>> => {
  try {
    return listening(tables.map((table) => readFileSync(`/proc/${pid}${table}`, 'utf8')).join('\n'));
  } catch {
    const { output } = await ask(engine, [
      'exec',
      container,
      'cat',
      ...tables.map((table) => `/proc${table}`),
    ]);
    return listening(output);
  }
};

/** Null: not yet. */
const isUp = async (engine: Engine, { container, ports }: Running): Promise<boolean | null> => {
  const state = (await stateOf(engine, container))?.State;
  if (state?.Running === false) return false;
  if (state?.Health?.Status === 'healthy') return true;
  if (ports.length === 0) return null;
  const open = await portsOf(engine, container, state?.Pid ?? 0);
  return ports.some((port) => open.has(port)) ? true : null;
};

/** Milliseconds. */
const patience = 30_000;
const pause = 100;
const shownLines = '50';

const tellFault = async ({ engine, setting }: ServiceParts, service: Running, why: string): Promise<void> => {
  const { say } = setting;
  say(`\n*** WARNING: Service ${service.image.name} probably didn't start properly.`, 'yellow');
  say(`\nHealth check error:\n${why}\n\nService container logs:`);
  say((await logsOf(engine, service)) || '(none)');
  say('\n*********\n', 'yellow');
};

/** What it printed last. */
export const logsOf = async (engine: Engine, { container }: Running): Promise<string> => {
  const { output, complaint } = await ask(engine, ['logs', '--tail', shownLines, container]);
  return [output.trimEnd(), complaint].filter((text) => text !== '').join('\n');
};

const waitFor = async (parts: ServiceParts, service: Running): Promise<void> => {
  const { engine, setting } = parts;
  const isTold = service.ports.length > 0 || service.image.hasHealthCheck;
  const end = performance.now() + (isTold ? patience : 0);
  // oxlint-disable no-await-in-loop -- until it is up
  for (;;) {
    const up = await isUp(engine, service);
    setting.stop.throwIfAborted();
    if (up === true) return;
    if (up === false) return await tellFault(parts, service, 'it has ended');
    if (performance.now() > end) break;
    await wait(pause, undefined, { signal: setting.stop });
  }
  // oxlint-enable no-await-in-loop
  if (isTold) await tellFault(parts, service, `nothing listens after ${patience / 1000} seconds`);
};

/** Until each is up or has had its time; the job begins all the same. */
export const waitForServices = async (parts: ServiceParts, services: readonly Running[]): Promise<void> => {
  parts.setting.say(`Waiting for services to be up and running (timeout ${patience / 1000} seconds)...`);
  await Promise.all(services.map(async (service) => await waitFor(parts, service)));
};
