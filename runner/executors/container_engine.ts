/** Runs the command line of podman or docker. */
import { execFile } from 'node:child_process';
import type { User } from './run_process.ts';

export type Engine = { program: string; name: 'podman' | 'docker' };

export type Answer = { code: number; output: string; complaint: string };

/** Only variables that engines read themselves, never variables of a job. */
export const engineEnvironment = (): Record<string, string> => {
  const kept = ['PATH', 'HOME', 'XDG_RUNTIME_DIR', 'DOCKER_HOST', 'DOCKER_CONFIG', 'CONTAINER_HOST'];
  const ofPodman = ['CONTAINERS_CONF', 'CONTAINERS_STORAGE_CONF', 'CONTAINERS_REGISTRIES_CONF'];
  const names = [...kept, ...ofPodman];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
};

type EngineCommand = {
  environment?: Record<string, string>;
  /** Milliseconds; default: ten seconds. */
  timeout?: number;
  stop?: AbortSignal;
  user?: User;
};

const maxOutputBytes = 16 * 2 ** 20;
const shortTimeout = 10_000;

/** Runs a command of the engine. Never throws: `complaint` describes a failure. */
export const runEngine = async (
  engine: Engine,
  args: readonly string[],
  asking: EngineCommand = {},
): Promise<Answer> => {
  const { environment = {}, timeout = shortTimeout, stop } = asking;
  const env = { ...engineEnvironment(), ...environment };
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const options = { env, timeout, cwd: '/', maxBuffer: maxOutputBytes, killSignal: 'SIGKILL' as const };
  execFile(engine.program, args, { ...options, ...(stop && { signal: stop }) }, (error, output, text) => {
    const errorText = text.trim();
    const complaint =
      error === null ? errorText : errorText || (error.killed ? 'it takes too long' : error.message);
    resolve({ code: error === null ? 0 : 1, output, complaint });
  });
  return await promise;
};

/** Runs an inspect command and parses its JSON; null if it cannot. */
export const runEngineJson = async <T>(engine: Engine, args: readonly string[]): Promise<T | null> => {
  const { code, output } = await runEngine(engine, args);
  if (code !== 0) return null;
  try {
    return [JSON.parse(output) as T | T[]].flat()[0] as T;
  } catch {
    return null;
  }
};

/** Label by which containers of a job are found. */
export const labelName = 'gantry-runner';

/** Removes containers by force, then their network. */
export const removeAll = async (
  engine: Engine,
  names: readonly string[],
  network: string | null,
): Promise<void> => {
  if (names.length > 0) await runEngine(engine, ['rm', '--force', '--volumes', ...names]);
  if (network !== null) await runEngine(engine, ['network', 'rm', network]);
};

/** Removes containers and networks of runners that no longer run. */
export const endContainers = async (engine: Engine, isLeft: (mark: string) => boolean): Promise<number> => {
  const find = async (args: readonly string[], format: string): Promise<string[]> => {
    const filter = ['--filter', `label=${labelName}`, '--format', format];
    const { output } = await runEngine(engine, [...args, ...filter]);
    const names = output.split('\n').map((line) => line.trim());
    return names.filter((name) => name.startsWith('gantry-') && isLeft(name.slice('gantry-'.length)));
  };
  const containers = await find(['ps', '--all'], '{{.Names}}');
  await removeAll(engine, containers, null);
  for (const name of await find(['network', 'ls'], '{{.Name}}')) {
    await runEngine(engine, ['network', 'rm', name]);
  }
  return containers.length;
};
