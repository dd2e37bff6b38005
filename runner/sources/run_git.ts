/** Runs git with separate settings, so that files of earlier jobs cannot influence it. */
import { delimiter } from 'node:path';
import { type User, runTree, startChild } from '../executors/run_process.ts';
import { signal } from '../executors/processes.ts';

export type Git = (
  args: readonly string[],
  options?: { cwd?: string; environment?: Record<string, string> },
) => Promise<{ code: number | null; output: Buffer; complaint: string }>;

export type GitParts = {
  user: User | null;
  stop: AbortSignal;
  /** Header sent with each request to this URL. */
  authorization: { url: string; header: string } | null;
  /** Additional git settings. */
  more?: readonly (readonly [string, string])[];
};

const config: readonly (readonly [string, string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.attributesFile', '/dev/null'],
  ['init.templateDir', ''],
  ['init.defaultBranch', 'main'],
  ['gc.autoDetach', 'false'],
  ['maintenance.autoDetach', 'false'],
  ['safe.directory', '*'],
  ['advice.detachedHead', 'false'],
  ['http.followRedirects', 'false'],
  ['fetch.fsckObjects', 'false'],
];

const buildEnvironment = ({ authorization, more = [] }: GitParts): Record<string, string> => {
  const pairs = [
    ...config,
    ...more,
    ...(authorization === null
      ? []
      : [[`http.${authorization.url}.extraHeader`, `Authorization: ${authorization.header}`] as const]),
  ];
  return {
    PATH: ['/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'http:https',
    GIT_CONFIG_COUNT: String(pairs.length),
    ...Object.fromEntries(
      pairs.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
};

/** Maximum bytes of output that are kept. */
const maxOutputBytes = 256 * 2 ** 20;

/** Returns a function that runs git. `complaint` is the end of standard error. */
export const makeGit = (parts: GitParts): Git => {
  const base = buildEnvironment(parts);
  return async (args, { cwd = '/', environment = {} } = {}) => {
    const output: Buffer[] = [];
    let size = 0;
    let complaint = '';
    const child = startChild({
      words: ['git', ...args],
      environment: { ...base, ...environment },
      cwd,
      user: parts.user,
      onOutput: () => undefined,
    });
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxOutputBytes) output.push(chunk);
    });
    child.stderr?.on(
      'data',
      (chunk: Buffer) => void (complaint = (complaint + chunk.toString()).slice(-4_000)),
    );
    const end = (name: NodeJS.Signals) => (): void => {
      if (child.pid !== undefined) signal(-child.pid, name);
    };
    const kill = end('SIGKILL');
    const tree = { child, terminate: end('SIGTERM'), killTree: async () => kill() };
    const { code } = await runTree(tree, parts.stop);
    return { code, output: Buffer.concat(output), complaint: complaint.trim() };
  };
};
