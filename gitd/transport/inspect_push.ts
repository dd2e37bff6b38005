/** What a push brings, looked at before refs move: its objects are still in quarantine. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { flag, oid } from '../exec/arguments.ts';
import type { RunVariables } from '../exec/env.ts';
import { eachAtOnce } from '../odb/loose.ts';
import { quotedFolder } from '../odb/quarantine.ts';
import { type PushedRef, zeroOid } from '../protocol.ts';
import { sizeOf } from '../storage/look.ts';
import type { HookUpdate } from './hook_channel.ts';

const secondsEach = 60;

/** Where the new objects are to be found: beside those of the repository. */
const quarantineVariables = (dir: string, quarantine: string): RunVariables =>
  quarantine === ''
    ? {}
    : { GIT_OBJECT_DIRECTORY: quarantine, GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedFolder(`${dir}/objects`) };

type Looking = { context: Context; variables: RunVariables };

const run = ({ context, variables }: Looking) => {
  const { dir, signal } = context;
  return { dir, variables, slot: 'interactive', seconds: secondsEach, signal } as const;
};

/** Whether history would be lost. What is no commit has none: it counts as rewritten. */
const isForced = async (looking: Looking, { old, new: next }: HookUpdate): Promise<boolean> => {
  if (old === zeroOid || next === zeroOid) return false;
  const args = [flag('--is-ancestor'), oid(old), oid(next)];
  const codes = [0, 1, 128];
  const { code } = await looking.context.exec.run({ ...run(looking), command: 'merge-base', args, codes });
  return code !== 0;
};

/** @param quarantine folder of the new objects; '' where none came */
export const inspectPush = async (
  context: Context,
  quarantine: string,
  updates: readonly HookUpdate[],
): Promise<PushedRef[]> => {
  const looking = { context, variables: quarantineVariables(context.dir, quarantine) };
  const pushed: PushedRef[] = updates.map((update) => ({ ...update, forced: false }));
  await eachAtOnce(pushed, async (update) => void (update.forced = await isForced(looking, update)));
  return pushed;
};

/** Bytes of the largest file among the new objects. */
export const largestFile = async (context: Context, quarantine: string): Promise<number> => {
  if (quarantine === '') return 0;
  const { exec, dir, signal } = context;
  const process = await exec.start({
    command: 'cat-file',
    args: [
      flag('--batch-check=%(objecttype) %(objectsize)'),
      flag('--batch-all-objects'),
      flag('--unordered'),
    ],
    dir,
    slot: 'interactive',
    seconds: 600,
    signal,
    variables: { GIT_OBJECT_DIRECTORY: quarantine },
  });
  process.stdin.end();
  let largest = 0;
  let rest = '';
  for await (const chunk of process.stdout as AsyncIterable<Buffer>) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('blob ')) largest = Math.max(largest, Number(line.slice('blob '.length)));
    }
  }
  await process.ended;
  return largest;
};

/** Bytes of the repository with the new objects, which came in a pack; 0 where none came. */
export const sizeWith = async (context: Context, quarantine: string): Promise<number> => {
  if (quarantine === '') return 0;
  const folder = join(quarantine, 'pack');
  const files = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(files.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, await sizeOf(context));
};
