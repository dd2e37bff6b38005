/**
 * Who is at work on some bytes, of all processes on one store: one who is about to name them keeps others from taking
 * them away, and the other way round. The project's row is the lock; bytes move between two transactions, never in one.
 */
import type { Platform } from '../access/call.ts';
import type { Reader, Tx } from '../db/open.ts';
import { processName } from '../db/process.ts';

export type BytesOf = { project_id: number; sha256: string };

/** Milliseconds after which what a process that is gone has asked of the store of bytes is done, or never will be. */
const settled = 60_000;
/** Whoever holds for longer does nothing with them: a request to the store of bytes is given up long before. */
const longest = 3_600_000;

const isNamed = async (db: Reader, { project_id, sha256 }: BytesOf): Promise<boolean> => {
  const row = await db
    .selectFrom('artifacts')
    .select('id')
    .where('project_id', '=', project_id)
    .where('sha256', '=', sha256)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

/** Answers false where the project is gone. */
const lockProject = async (tx: Tx, id: number): Promise<boolean> => {
  const row = await tx.db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', id)
    .modifyEnd(tx.words.forUpdate)
    .executeTakeFirst();
  return row !== undefined;
};

type Kind = 'name' | 'remove';

const heldBy = (tx: Tx, { project_id, sha256 }: BytesOf, kind: Kind) =>
  tx.db
    .selectFrom('byte_holds')
    .select('holder')
    .where('project_id', '=', project_id)
    .where('sha256', '=', sha256)
    .where('kind', '=', kind)
    .where('created_at', '>', tx.now - longest)
    .where((is) => is.or([is('created_at', '>', tx.now - settled), tx.words.lives('holder')]))
    .limit(1);

const isHeld = async (tx: Tx, of: BytesOf, kind: Kind): Promise<boolean> =>
  (await heldBy(tx, of, kind).executeTakeFirst()) !== undefined;

/** Ends it. */
export type Hold = () => Promise<void>;

/** One that this process could not end takes nobody's place: it does one thing after another with the same bytes. */
const hold = async (tx: Tx, { project_id, sha256 }: BytesOf, kind: Kind): Promise<void> => {
  const changing = { kind, created_at: tx.now };
  await tx.db
    .insertInto('byte_holds')
    .values({ project_id, sha256, holder: processName, ...changing })
    .onConflict((clash) => clash.columns(['project_id', 'sha256', 'holder']).doUpdateSet(changing))
    .execute();
};

const endOf =
  ({ store }: Pick<Platform, 'store'>, { project_id, sha256 }: BytesOf): Hold =>
  async () =>
    await store.write(async ({ db }) => {
      await db
        .deleteFrom('byte_holds')
        .where('project_id', '=', project_id)
        .where('sha256', '=', sha256)
        .where('holder', '=', processName)
        .execute();
    });

/** From now on nobody takes them away. null: somebody does that right now, or the project is gone. */
export const holdToName = async (platform: Pick<Platform, 'store'>, of: BytesOf): Promise<Hold | null> => {
  const isMine = await platform.store.write(async (tx) => {
    if (!(await lockProject(tx, of.project_id)) || (await isHeld(tx, of, 'remove'))) return false;
    await hold(tx, of, 'name');
    return true;
  });
  return isMine ? endOf(platform, of) : null;
};

/** From now on nobody names them. null: they are named, or about to be. */
export const holdToRemove = async (platform: Pick<Platform, 'store'>, of: BytesOf): Promise<Hold | null> => {
  const outcome = await platform.store.write(async (tx) => {
    // Nothing is added to a project that is gone.
    if (!(await lockProject(tx, of.project_id))) return 'nobody';
    if ((await isNamed(tx.db, of)) || (await isHeld(tx, of, 'name'))) return 'others';
    await hold(tx, of, 'remove');
    return 'mine';
  });
  if (outcome === 'nobody') return async () => undefined;
  return outcome === 'mine' ? endOf(platform, of) : null;
};

/** Of one who holds them to name them: whether nobody else names them, or is about to. If so, nobody does from now on. */
export const holdToTakeBack = async ({ store }: Pick<Platform, 'store'>, of: BytesOf): Promise<boolean> =>
  await store.write(async (tx) => {
    if (!(await lockProject(tx, of.project_id))) return true;
    const another = heldBy(tx, of, 'name').where('holder', '!=', processName);
    const isWanted = (await isNamed(tx.db, of)) || (await another.executeTakeFirst()) !== undefined;
    if (!isWanted) await hold(tx, of, 'remove');
    return !isWanted;
  });

/** Keeps nobody from anything but removing them, until somebody looks for what was left. */
export const leave = async ({ store }: Pick<Platform, 'store'>, of: BytesOf): Promise<void> =>
  await store.write(async (tx) => await hold(tx, of, 'name'));

export type LeftHold = BytesOf & { holder: string };

/** Rows that one look finds: the next one finds the rest. */
const mostLeft = 100;

/** So old that whoever made them does nothing with the bytes any more: it died, or lost the store as it ended them. */
export const leftHolds = async (db: Reader, now: number): Promise<LeftHold[]> =>
  await db
    .selectFrom('byte_holds')
    .select(['project_id', 'sha256', 'holder'])
    .where('created_at', '<=', now - longest)
    .orderBy('created_at')
    .limit(mostLeft)
    .execute();

/** Unless it was made anew. */
export const forgetHold = async (tx: Tx, { project_id, sha256, holder }: LeftHold): Promise<void> => {
  await tx.db
    .deleteFrom('byte_holds')
    .where('project_id', '=', project_id)
    .where('sha256', '=', sha256)
    .where('holder', '=', holder)
    .where('created_at', '<=', tx.now - longest)
    .execute();
};
