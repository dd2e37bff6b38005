/** Finds the owner of an SSH key. */
import { hash } from 'node:crypto';
import { type ActorUser, recordActivity, userColumns } from '../../core/access/credentials/authenticate.ts';
import type { Platform } from '../../core/platform.ts';
import { loadViewer } from '../../core/access/viewer.ts';
import type { KeyRow } from '../../identity/keys/queries.ts';
import { keyRefusal } from '../../identity/keys/rules.ts';

/** `user` null: a deploy key. */
export type KeyUser = { key: KeyRow; user: ActorUser | null };

const usedEvery = 10 * 60_000;

const isGood = ({ settings, clock }: Platform, key: KeyRow): boolean =>
  key.usage_type !== 'signing' &&
  (key.expires_at === null || key.expires_at > clock.now()) &&
  keyRefusal(settings.current, key) === null;

const withUser = async (platform: Platform, key: KeyRow | undefined): Promise<KeyUser | null> => {
  if (key === undefined || !isGood(platform, key)) return null;
  if (key.user_id === null) return { key, user: null };
  const user = await platform.store.db
    .selectFrom('users')
    .select(userColumns)
    .where('id', '=', key.user_id)
    .executeTakeFirst();
  return user === undefined ? null : { key, user };
};

/** Finds a key by its public bytes; null for an unknown key and for types that the instance forbids. */
export const findKeyUser = async (platform: Platform, blob: Buffer): Promise<KeyUser | null> => {
  const fingerprint = hash('sha256', blob, 'base64').replace(/=+$/, '');
  const key = await platform.store.db
    .selectFrom('keys')
    .selectAll()
    .where('fingerprint_sha256', '=', fingerprint)
    .where('blob', '=', blob.toString('base64'))
    .executeTakeFirst();
  return await withUser(platform, key);
};

/** Reloads the key, since a connection may outlive it. */
export const reloadKeyUser = async (platform: Platform, id: number): Promise<KeyUser | null> => {
  const key = await platform.store.db.selectFrom('keys').selectAll().where('id', '=', id).executeTakeFirst();
  return await withUser(platform, key);
};

/** Records that a key was used, and from where, at most every ten minutes, in the background. */
export const noteKeyUse = ({ store, clock }: Platform, { key, user }: KeyUser, ip: string): void => {
  const now = clock.now();
  if (key.last_used_at !== null && now - key.last_used_at < usedEvery) return;
  void store
    .write(async ({ db }) => {
      await db
        .updateTable('keys')
        .set({ last_used_at: now, last_used_ip: ip })
        .where('id', '=', key.id)
        .execute();
      if (user !== null) await recordActivity(db, user.id, now);
    })
    .catch(() => undefined);
};

/** Loads the rights of a deploy key in a project; null if it is not one of the project's keys. */
export const deployKeyIn = async (
  { store }: Platform,
  keyId: number,
  projectId: number,
): Promise<{ id: number; canPush: boolean } | null> => {
  const row = await store.db
    .selectFrom('deploy_key_projects')
    .select('can_push')
    .where('key_id', '=', keyId)
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  return row === undefined ? null : { id: keyId, canPush: row.can_push === 1 };
};

export const viewerOfUser = async ({ store, clock }: Platform, user: ActorUser) =>
  await loadViewer(store.db, user, clock.now());
