/** Whose a key is that somebody signs in with. */
import { hash } from 'node:crypto';
import { type ActorUser, noteActivity, userColumns } from '../access/authenticate.ts';
import type { Platform } from '../access/call.ts';
import { loadViewer } from '../access/viewer.ts';
import type { KeyRow } from '../keys/queries.ts';
import { keyRefusal } from '../keys/rules.ts';

/** `user` null: a deploy key. */
export type KeyUser = { key: KeyRow; user: ActorUser | null };

const usedEvery = 10 * 60_000;

const isGood = ({ settings, clock }: Platform, key: KeyRow): boolean =>
  (key.expires_at === null || key.expires_at > clock.now()) && keyRefusal(settings.current, key) === null;

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

/** By the bytes of a public key; null: nobody's, or none that the instance takes now. */
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

/** As it is now: a connection may outlive the key. */
export const reloadKeyUser = async (platform: Platform, id: number): Promise<KeyUser | null> => {
  const key = await platform.store.db.selectFrom('keys').selectAll().where('id', '=', id).executeTakeFirst();
  return await withUser(platform, key);
};

/** Notes, every ten minutes at most, that a key is in use: behind the request. */
export const noteKeyUse = ({ store, clock }: Platform, { key, user }: KeyUser): void => {
  const now = clock.now();
  if (key.last_used_at !== null && now - key.last_used_at < usedEvery) return;
  void store
    .write(async ({ db }) => {
      await db.updateTable('keys').set({ last_used_at: now }).where('id', '=', key.id).execute();
      if (user !== null) await noteActivity(db, user.id, now);
    })
    .catch(() => undefined);
};

/** What a deploy key may in a project; null: it is not one of its keys. */
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
