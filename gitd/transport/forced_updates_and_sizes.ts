/** Finds forced updates of a push and measures its objects, while they are in quarantine and no ref has moved. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../handler_types.ts';
import { flag, oid } from '../exec/arguments.ts';
import type { RunVariables } from '../exec/environment.ts';
import { forEachConcurrently } from '../for_each_concurrently.ts';
import { quotedFolder } from '../odb/quarantine.ts';
import type { PushedRef } from '../protocol.ts';
import { zeroOid } from '../protocol_records.ts';
import { measureRepository } from '../maintenance/inspect_repository.ts';
import type { HookUpdate } from './hook_channel.ts';

const secondsEach = 60;

/** Variables with which git reads the new objects in addition to the repository's. */
const quarantineVariables = (dir: string, quarantine: string): RunVariables =>
  quarantine === ''
    ? {}
    : { GIT_OBJECT_DIRECTORY: quarantine, GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedFolder(`${dir}/objects`) };

type PushReader = { context: Context; variables: RunVariables };

const run = ({ context, variables }: PushReader) => {
  const { dir, signal } = context;
  return { dir, variables, slot: 'interactive', seconds: secondsEach, signal } as const;
};

/** Returns whether the update loses history. Targets that are not commits count as rewritten. */
const isForced = async (reader: PushReader, { old, new: next }: HookUpdate): Promise<boolean> => {
  if (old === zeroOid || next === zeroOid) return false;
  const args = [flag('--is-ancestor'), oid(old), oid(next)];
  const codes = [0, 1, 128];
  const { code } = await reader.context.exec.run({ ...run(reader), command: 'merge-base', args, codes });
  return code !== 0;
};

/**
 * Marks the updates of a push that lose history.
 * @param quarantine folder of the new objects; '' if there are no new objects
 */
export const markForcedUpdates = async (
  context: Context,
  quarantine: string,
  updates: readonly HookUpdate[],
): Promise<PushedRef[]> => {
  const reader = { context, variables: quarantineVariables(context.dir, quarantine) };
  const pushed: PushedRef[] = updates.map((update) => ({ ...update, forced: false }));
  await forEachConcurrently(pushed, async (update) => void (update.forced = await isForced(reader, update)));
  return pushed;
};

/** Measures the largest file among the new objects, in bytes. */
export const measureLargestFile = async (context: Context, quarantine: string): Promise<number> => {
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

/** Measures the repository with the new pack, in bytes; 0 if there are no new objects. */
export const measureWithNewPack = async (context: Context, quarantine: string): Promise<number> => {
  if (quarantine === '') return 0;
  const folder = join(quarantine, 'pack');
  const files = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(files.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, await measureRepository(context));
};
