/**
 * Claims on blobs, shared by all processes on one store: a process that is about to reference a blob keeps others from
 * deleting it, and the other way round. The project's row is the lock. Bytes move between two transactions, never
 * inside one.
 */
import type { Platform } from '../../../core/platform.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { processName } from '../../../platform/db/process_name.ts';
import { hourMilliseconds } from '../../../platform/time.ts';

export type BlobKey = { project_id: number; sha256: string };

/** Milliseconds until a request that a dead process sent to the blob store has finished or failed. */
const requestTimeout = 60_000;
/**
 * A process that holds a claim for longer no longer uses the bytes: its request to the blob store timed out long
 * before.
 */
const maxClaimMilliseconds = hourMilliseconds;

const isReferenced = async (db: Reader, { project_id, sha256 }: BlobKey): Promise<boolean> => {
  const row = await db
    .selectFrom('artifacts')
    .select('id')
    .where('project_id', '=', project_id)
    .where('sha256', '=', sha256)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

/** Locks the project's row. Returns false where the project is gone. */
const lockProject = async (tx: Tx, id: number): Promise<boolean> => {
  const row = await tx.db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', id)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirst();
  return row !== undefined;
};

type Kind = 'name' | 'remove';

const selectClaims = (tx: Tx, { project_id, sha256 }: BlobKey, kind: Kind) =>
  tx.db
    .selectFrom('byte_holds')
    .select('holder')
    .where('project_id', '=', project_id)
    .where('sha256', '=', sha256)
    .where('kind', '=', kind)
    .where('created_at', '>', tx.now - maxClaimMilliseconds)
    .where((is) => is.or([is('created_at', '>', tx.now - requestTimeout), tx.dialect.lives('holder')]))
    .limit(1);

const isClaimed = async (tx: Tx, blobKey: BlobKey, kind: Kind): Promise<boolean> =>
  (await selectClaims(tx, blobKey, kind).executeTakeFirst()) !== undefined;

/** Releases the claim. */
export type ReleaseClaim = () => Promise<void>;

/**
 * Writes a claim. A claim of this process that it failed to release is replaced: a process works on a blob one step at
 * a time.
 */
const writeClaim = async (tx: Tx, { project_id, sha256 }: BlobKey, kind: Kind): Promise<void> => {
  const changing = { kind, created_at: tx.now };
  await tx.db
    .insertInto('byte_holds')
    .values({ project_id, sha256, holder: processName, ...changing })
    .onConflict((clash) => clash.columns(['project_id', 'sha256', 'holder']).doUpdateSet(changing))
    .execute();
};

const makeRelease =
  ({ store }: Pick<Platform, 'store'>, { project_id, sha256 }: BlobKey): ReleaseClaim =>
  async () =>
    await store.write(async ({ db }) => {
      await db
        .deleteFrom('byte_holds')
        .where('project_id', '=', project_id)
        .where('sha256', '=', sha256)
        .where('holder', '=', processName)
        .execute();
    });

/**
 * Claims a blob for a reference, so that nobody deletes it. Returns null where a process is deleting it or the project
 * is gone.
 */
export const claimForReference = async (
  platform: Pick<Platform, 'store'>,
  blobKey: BlobKey,
): Promise<ReleaseClaim | null> => {
  const isMine = await platform.store.write(async (tx) => {
    if (!(await lockProject(tx, blobKey.project_id)) || (await isClaimed(tx, blobKey, 'remove')))
      return false;
    await writeClaim(tx, blobKey, 'name');
    return true;
  });
  return isMine ? makeRelease(platform, blobKey) : null;
};

/** Claims a blob for deletion, so that nobody references it. Returns null where it is referenced, or about to be. */
export const claimForDeletion = async (
  platform: Pick<Platform, 'store'>,
  blobKey: BlobKey,
): Promise<ReleaseClaim | null> => {
  const outcome = await platform.store.write(async (tx) => {
    // No more blobs are added to a project that is gone.
    if (!(await lockProject(tx, blobKey.project_id))) return 'nobody';
    if ((await isReferenced(tx.db, blobKey)) || (await isClaimed(tx, blobKey, 'name'))) return 'others';
    await writeClaim(tx, blobKey, 'remove');
    return 'mine';
  });
  if (outcome === 'nobody') return async () => undefined;
  return outcome === 'mine' ? makeRelease(platform, blobKey) : null;
};

/**
 * Turns a claim for a reference into one for deletion. Returns false where the blob is referenced, or about to be, by
 * another.
 */
export const turnIntoDeletion = async (
  { store }: Pick<Platform, 'store'>,
  blobKey: BlobKey,
): Promise<boolean> =>
  await store.write(async (tx) => {
    if (!(await lockProject(tx, blobKey.project_id))) return true;
    const another = selectClaims(tx, blobKey, 'name').where('holder', '!=', processName);
    const isInUse = (await isReferenced(tx.db, blobKey)) || (await another.executeTakeFirst()) !== undefined;
    if (!isInUse) await writeClaim(tx, blobKey, 'remove');
    return !isInUse;
  });

/** Leaves a claim that blocks only deletion, until the search for orphaned claims finds it. */
export const leaveClaim = async ({ store }: Pick<Platform, 'store'>, blobKey: BlobKey): Promise<void> =>
  await store.write(async (tx) => await writeClaim(tx, blobKey, 'name'));

export type OldClaim = BlobKey & { holder: string };

/** Maximum rows of one search; the next search finds the rest. */
const maxClaims = 100;

/**
 * Lists claims so old that their process no longer works on the bytes: it died, or lost the database while releasing
 * them.
 */
export const listOldClaims = async (db: Reader, now: number): Promise<OldClaim[]> =>
  await db
    .selectFrom('byte_holds')
    .select(['project_id', 'sha256', 'holder'])
    .where('created_at', '<=', now - maxClaimMilliseconds)
    .orderBy('created_at')
    .limit(maxClaims)
    .execute();

/** Deletes the claim unless it was renewed. */
export const deleteClaim = async (tx: Tx, { project_id, sha256, holder }: OldClaim): Promise<void> => {
  await tx.db
    .deleteFrom('byte_holds')
    .where('project_id', '=', project_id)
    .where('sha256', '=', sha256)
    .where('holder', '=', holder)
    .where('created_at', '<=', tx.now - maxClaimMilliseconds)
    .execute();
};
