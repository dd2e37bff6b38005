/**
 * Claims on blobs, shared by all processes on one store: a process that is about to reference a blob keeps others from
 * deleting it, and vice versa. The project's row serves as the lock. Bytes are moved between two transactions, never
 * inside one. The table is `byte_holds`.
 */
import type { Platform } from '../../../core/platform.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { processName } from '../../../platform/db/process_name.ts';
import { hourMilliseconds } from '../../../platform/time.ts';

export type BlobKey = { project_id: number; sha256: string };

/** Milliseconds until a request that a dead process sent to the blob store has finished or failed. */
const requestTimeout = 60_000;
/**
 * After this time a claim is void: the process's request to the blob store timed out long ago.
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

/** Locks the project's row. Returns false if the project is gone. */
const lockProject = async (tx: Tx, id: number): Promise<boolean> => {
  const row = await tx.db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', id)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirst();
  return row !== undefined;
};

/** As stored. `name`: for a reference; `remove`: for a deletion. */
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
 * Writes a claim. Replaces a claim that this process failed to release. That is safe: a process does one thing at a
 * time with a blob.
 */
const writeClaim = async (tx: Tx, { project_id, sha256 }: BlobKey, kind: Kind): Promise<void> => {
  const newValues = { kind, created_at: tx.now };
  await tx.db
    .insertInto('byte_holds')
    .values({ project_id, sha256, holder: processName, ...newValues })
    .onConflict((conflict) => conflict.columns(['project_id', 'sha256', 'holder']).doUpdateSet(newValues))
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
 * Claims a blob for a reference, so that nobody deletes it. Returns null if a process is deleting it or the project
 * is gone.
 */
export const claimForReference = async (
  platform: Pick<Platform, 'store'>,
  blobKey: BlobKey,
): Promise<ReleaseClaim | null> => {
  const wasClaimed = await platform.store.write(async (tx) => {
    if (!(await lockProject(tx, blobKey.project_id)) || (await isClaimed(tx, blobKey, 'remove')))
      return false;
    await writeClaim(tx, blobKey, 'name');
    return true;
  });
  return wasClaimed ? makeRelease(platform, blobKey) : null;
};

/** Claims a blob for deletion, so that nobody references it. Returns null if it is referenced, or about to be. */
export const claimForDeletion = async (
  platform: Pick<Platform, 'store'>,
  blobKey: BlobKey,
): Promise<ReleaseClaim | null> => {
  const outcome = await platform.store.write(async (tx) => {
    // No more blobs are added to a project that is gone.
    if (!(await lockProject(tx, blobKey.project_id))) return 'project_gone';
    if ((await isReferenced(tx.db, blobKey)) || (await isClaimed(tx, blobKey, 'name'))) return 'in_use';
    await writeClaim(tx, blobKey, 'remove');
    return 'claimed';
  });
  if (outcome === 'project_gone') return async () => undefined;
  return outcome === 'claimed' ? makeRelease(platform, blobKey) : null;
};

/**
 * Turns a claim for a reference into one for deletion. Returns false if the blob is referenced, or another process is
 * about to reference it.
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

/** Writes a claim that blocks only deletion and stays until the search for orphaned claims finds it. */
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
