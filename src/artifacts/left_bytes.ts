/** Takes away what processes left behind that died while they kept or removed the bytes of an artifact. */
import type { Platform } from '../access/call.ts';
import { dropBytes } from './bytes.ts';
import { type LeftHold, forgetHold, leftHolds } from './holds.ts';

/** The bytes go before the row that tells of them; those that are named meanwhile stay. */
const removeLeft = async (platform: Platform, left: LeftHold): Promise<void> => {
  await dropBytes(platform, left.project_id, [left.sha256]);
  await platform.store.write(async (tx) => await forgetHold(tx, left));
};

/** What could not be removed is found again. */
export const removeLeftBytes = async (platform: Platform): Promise<void> => {
  const { store, clock, log } = platform;
  for (const left of await leftHolds(store.db, clock.now())) {
    const failed = (error: unknown): void =>
      log.warn({ err: error, project_id: left.project_id }, 'bytes that a dead process left stay for now');
    // oxlint-disable-next-line no-await-in-loop -- one file after another
    await removeLeft(platform, left).catch(failed);
  }
};
