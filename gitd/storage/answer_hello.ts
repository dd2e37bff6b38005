import type { MethodHandler } from '../handler_types.ts';
import { GitError } from '../git_error.ts';
import { protocolVersion } from '../protocol.ts';

let gitVersion: Promise<string> | null = null;

/** Answers with versions and process id; refuses a service of another protocol version. */
export const hello: MethodHandler<'storage.hello'> = async ({ version }, { exec }) => {
  if (version !== protocolVersion)
    throw new GitError('invalid', `this storage speaks version ${protocolVersion}, not ${String(version)}`);
  gitVersion ??= readVersion(exec);
  return { result: { version: protocolVersion, git: await gitVersion, pid: process.pid } };
};

const readVersion = async (exec: Parameters<typeof hello>[1]['exec']): Promise<string> => {
  const run = await exec.run({ command: 'version', args: [], dir: null, slot: null, seconds: 10 });
  return run.stdout
    .toString()
    .replace(/^git version /, '')
    .trim();
};
