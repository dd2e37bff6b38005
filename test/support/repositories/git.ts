/** Runs the git program without any configuration of this machine. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const settings = {
  'user.name': 'Ada Lovelace',
  'user.email': 'ada@example.com',
  'init.defaultBranch': 'main',
  'commit.gpgsign': 'false',
  'gc.auto': '0',
  'advice.detachedHead': 'false',
};

/** Environment in which git never prompts and reads no configuration but this. */
export const gitEnvironment = (more: Record<string, string> = {}): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  TZ: 'UTC',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_CONFIG_COUNT: String(Object.keys(settings).length),
  ...Object.fromEntries(
    Object.entries(settings).flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
  ...more,
});

export type GitResult = { code: number; stdout: string; stderr: string };

/** Runs git to its end, whatever its exit status. */
export const tryGit = async (
  cwd: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<GitResult> =>
  await new Promise((resolve) => {
    const options = { cwd, env: gitEnvironment(env), maxBuffer: 64 * 2 ** 20, timeout: 120_000 };
    execFile('git', args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });

/** Runs git and returns its output without the last line end. @throws if git fails */
export const git = async (cwd: string, ...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await tryGit(cwd, args);
  if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}: ${stderr}`);
  return stdout.replace(/\n$/, '');
};

/** `http://127.0.0.1:1/group/project.git` with the token of a user; null for anonymous access. */
export const repositoryUrl = (base: string, path: string, token: string | null): string => {
  const url = new URL(`${base}/${path}.git`);
  if (token !== null) {
    url.username = 'oauth2';
    url.password = token;
  }
  return url.href;
};

export type WorkTree = {
  path: string;
  git: (...args: string[]) => Promise<string>;
  /** Writes a file. */
  write: (name: string, text: string) => Promise<void>;
  /** Writes files, commits all of them and returns the commit's id. */
  commit: (message: string, files: Record<string, string>) => Promise<string>;
  remove: () => Promise<void>;
};

/** Creates a folder with an empty repository on the branch `main`. */
export const newWorkTree = async (): Promise<WorkTree> => {
  const path = await mkdtemp(join(tmpdir(), 'gantry-tree-'));
  const run = async (...args: string[]): Promise<string> => await git(path, ...args);
  await run('init', '--quiet', '.');
  const write = async (name: string, text: string): Promise<void> => await writeFile(join(path, name), text);
  return {
    path,
    git: run,
    write,
    commit: async (message, files) => {
      await Promise.all(Object.entries(files).map(async ([name, text]) => await write(name, text)));
      await run('add', '--all');
      await run('commit', '--quiet', '--allow-empty', '--message', message);
      return await run('rev-parse', 'HEAD');
    },
    remove: async () => await rm(path, { recursive: true, force: true }),
  };
};
