/** Syncs what a push changed: git syncs files, but not the folders that contain them. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../handler_types.ts';
import { text } from '../exec/arguments.ts';
import { forEachConcurrently } from '../for_each_concurrently.ts';
import { type Oid, zeroOid } from '../protocol_records.ts';
import { syncFolder, syncRefs } from '../disk/sync_folders.ts';
import type { HookUpdate } from './hook_channel.ts';

/** The new objects are in a pack. */
export const syncPushed = async (dir: string, updates: readonly HookUpdate[]): Promise<void> => {
  await Promise.all([syncFolder(join(dir, 'objects')), syncFolder(join(dir, 'objects/pack'))]);
  const withDeletions = updates.some((update) => update.new === zeroOid);
  await syncRefs(
    dir,
    updates.map(({ ref }) => ref),
    withDeletions,
  );
};

/** Lists the updates that git has applied. */
export const listAppliedUpdates = async <U extends HookUpdate>(
  { exec, dir }: Context,
  updates: readonly U[],
): Promise<U[]> => {
  const { stdout } = await exec.run({
    command: 'for-each-ref',
    // List all refs: a command line holds fewer names than a push.
    args: [text('--format=', '%(objectname) %(refname)')],
    dir,
    slot: null,
    seconds: 60,
    maxOutput: 256 * 2 ** 20,
  });
  const now = new Map<string, Oid>();
  for (const line of stdout.toString().split('\n')) now.set(line.slice(41), line.slice(0, 40));
  return updates.filter((update) => (now.get(update.ref) ?? zeroOid) === update.new);
};

/** Removes quarantines of killed pushes; only while no other push runs in the repository. */
export const sweepQuarantines = async (dir: string): Promise<void> => {
  const folder = join(dir, 'objects');
  const leftovers = (await readdir(folder)).filter((name) => name.startsWith('tmp_objdir-incoming-'));
  await forEachConcurrently(
    leftovers,
    async (name) => await rm(join(folder, name), { recursive: true, force: true }),
  );
};
