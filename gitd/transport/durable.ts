/** Makes what a push changed last: git syncs its files, but not the folders that name them. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { text } from '../exec/arguments.ts';
import { eachAtOnce } from '../odb/loose.ts';
import { type Oid, zeroOid } from '../protocol.ts';
import { syncFolder, syncRefs } from '../storage/durable.ts';
import type { HookUpdate } from './hook_channel.ts';

/** The objects came in a pack. */
export const syncPushed = async (dir: string, updates: readonly HookUpdate[]): Promise<void> => {
  await Promise.all([syncFolder(join(dir, 'objects')), syncFolder(join(dir, 'objects/pack'))]);
  const withDeletions = updates.some((update) => update.new === zeroOid);
  await syncRefs(
    dir,
    updates.map(({ ref }) => ref),
    withDeletions,
  );
};

/** Those of the updates that git has made. */
export const madeUpdates = async <U extends HookUpdate>(
  { exec, dir }: Context,
  updates: readonly U[],
): Promise<U[]> => {
  const { stdout } = await exec.run({
    command: 'for-each-ref',
    // Without their names: a command line takes fewer of them than a push.
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

/** What a killed push leaves of its objects; only while no other one is under way there. */
export const sweepQuarantines = async (dir: string): Promise<void> => {
  const folder = join(dir, 'objects');
  const left = (await readdir(folder)).filter((name) => name.startsWith('tmp_objdir-incoming-'));
  await eachAtOnce(left, async (name) => await rm(join(folder, name), { recursive: true, force: true }));
};
