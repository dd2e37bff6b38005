/** Deletes blobs of processes that died while they stored or deleted an artifact. */
import type { Platform } from '../../../core/platform.ts';
import { deleteUnreferencedBlobs } from './artifact_blobs.ts';
import { type OldClaim, deleteClaim, listOldClaims } from './blob_claims.ts';

/** Deletes the bytes before the claim row. Bytes that are referenced in the meantime stay. */
const removeOrphan = async (platform: Platform, claim: OldClaim): Promise<void> => {
  await deleteUnreferencedBlobs(platform, claim.project_id, [claim.sha256]);
  await platform.store.write(async (tx) => await deleteClaim(tx, claim));
};

/** Cleans up all old claims. One that fails is found again by the next run. */
export const removeOrphanedBlobs = async (platform: Platform): Promise<void> => {
  const { store, clock, log } = platform;
  for (const claim of await listOldClaims(store.db, clock.now())) {
    const failed = (error: unknown): void =>
      log.warn({ err: error, project_id: claim.project_id }, 'removing an orphaned blob failed');
    await removeOrphan(platform, claim).catch(failed);
  }
};
