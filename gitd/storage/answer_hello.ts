import { statfs } from 'node:fs/promises';
import type { MethodHandler } from '../handler_types.ts';
import { GitError } from '../git_error.ts';
import { protocolVersion } from '../protocol.ts';

let gitVersion: Promise<string> | null = null;

/** Returns the bytes of the disk; null: it does not answer. */
const readSpace = async (root: string): Promise<{ free: number; total: number } | null> => {
  try {
    const { bavail, bsize, blocks } = await statfs(root);
    return { free: bavail * bsize, total: blocks * bsize };
  } catch {
    return null;
  }
};

/** Answers with versions, process id, free space and load; refuses a service of another protocol version. */
export const hello: MethodHandler<'storage.hello'> = async ({ version }, { exec, root }) => {
  if (version !== protocolVersion)
    throw new GitError('invalid', `this storage speaks version ${protocolVersion}, not ${String(version)}`);
  gitVersion ??= readVersion(exec);
  const [git, space] = await Promise.all([gitVersion, readSpace(root)]);
  return { result: { version: protocolVersion, git, pid: process.pid, space, load: exec.measureLoad() } };
};

const readVersion = async (exec: Parameters<typeof hello>[1]['exec']): Promise<string> => {
  const run = await exec.run({ command: 'version', args: [], dir: null, slot: null, seconds: 10 });
  return run.stdout
    .toString()
    .replace(/^git version /, '')
    .trim();
};
