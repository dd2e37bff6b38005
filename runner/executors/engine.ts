/** Podman or docker, as programs that are asked. */
import { execFile } from 'node:child_process';
import type { User } from './run.ts';

export type Engine = { program: string; name: 'podman' | 'docker' };

export type Answer = { code: number; output: string; complaint: string };

/** Only what engines themselves read: nothing of a job's, for that would be read by a program of ours. */
export const engineEnvironment = (): Record<string, string> => {
  const kept = ['PATH', 'HOME', 'XDG_RUNTIME_DIR', 'DOCKER_HOST', 'DOCKER_CONFIG', 'CONTAINER_HOST'];
  const ofPodman = ['CONTAINERS_CONF', 'CONTAINERS_STORAGE_CONF', 'CONTAINERS_REGISTRIES_CONF'];
  const names = [...kept, ...ofPodman];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
};

type Asking = {
  environment?: Record<string, string>;
  /** Milliseconds; default: ten seconds. */
  timeout?: number;
  stop?: AbortSignal;
  user?: User;
};

const mostOutput = 16 * 2 ** 20;
const shortPatience = 10_000;

/** Never throws: what it says of a failure is in `complaint`. */
export const ask = async (engine: Engine, words: readonly string[], asking: Asking = {}): Promise<Answer> => {
  const { environment = {}, timeout = shortPatience, stop } = asking;
  const env = { ...engineEnvironment(), ...environment };
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const options = { env, timeout, cwd: '/', maxBuffer: mostOutput, killSignal: 'SIGKILL' as const };
  execFile(engine.program, words, { ...options, ...(stop && { signal: stop }) }, (error, output, text) => {
    const said = text.trim();
    const complaint = error === null ? said : said || (error.killed ? 'it takes too long' : error.message);
    resolve({ code: error === null ? 0 : 1, output, complaint });
  });
  return await promise;
};

/** What it knows of one thing; null: nothing that can be read. */
export const askJson = async <T>(engine: Engine, words: readonly string[]): Promise<T | null> => {
  const { code, output } = await ask(engine, words);
  if (code !== 0) return null;
  try {
    return [JSON.parse(output) as T | T[]].flat()[0] as T;
  } catch {
    return null;
  }
};

/** By which what belongs to a job is found again. */
export const labelName = 'gantry-runner';

/** Removes containers at once, then the network that they were in. */
export const removeAll = async (
  engine: Engine,
  names: readonly string[],
  network: string | null,
): Promise<void> => {
  if (names.length > 0) await ask(engine, ['rm', '--force', '--volumes', ...names]);
  if (network !== null) await ask(engine, ['network', 'rm', network]);
};

/** What runners that are gone left: containers and networks with a mark of theirs. */
export const endContainers = async (engine: Engine, isLeft: (mark: string) => boolean): Promise<number> => {
  const find = async (words: readonly string[], format: string): Promise<string[]> => {
    const filter = ['--filter', `label=${labelName}`, '--format', format];
    const { output } = await ask(engine, [...words, ...filter]);
    const names = output.split('\n').map((line) => line.trim());
    return names.filter((name) => name.startsWith('gantry-') && isLeft(name.slice('gantry-'.length)));
  };
  const containers = await find(['ps', '--all'], '{{.Names}}');
  await removeAll(engine, containers, null);
  for (const name of await find(['network', 'ls'], '{{.Name}}')) {
    // oxlint-disable-next-line no-await-in-loop -- few
    await ask(engine, ['network', 'rm', name]);
  }
  return containers.length;
};
