import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Store } from '../db/open.ts';
import { insertToken } from '../tokens/create.ts';
import { insertUser } from '../users/create.ts';
import { hashPassword } from '../users/password.ts';
import { writePrivate } from './data_folder.ts';

/** File beside the database that holds the generated password. */
export const passwordFile = 'initial_root_password';

export const isFirstStart = async (store: Store): Promise<boolean> => {
  const row = await store.db.selectFrom('users').select('id').limit(1).executeTakeFirst();
  return row === undefined;
};

/**
 * Creates the administrator `root` (id 1), with the password and the token that the configuration gives.
 * @returns the password where it was generated and holds, to be shown once
 */
export const createRoot = async (
  store: Store,
  config: Config,
  random: (bytes: number) => Buffer,
): Promise<string | null> => {
  const generated = config.root_password === null ? random(18).toString('base64url') : null;
  const password_hash = await hashPassword(config.root_password ?? generated ?? '', random);
  const file = join(config.data, passwordFile);
  if (generated !== null) writePrivate(file, `${generated}\n`);
  try {
    await insertRoot(store, config, password_hash);
    return generated;
  } catch (error) {
    if (!store.isUniqueViolation(error)) throw error;
    // Another service that starts on the same database was first.
    if (generated !== null) rmSync(file);
    return null;
  }
};

const insertRoot = async (store: Store, config: Config, password_hash: string): Promise<void> =>
  await store.write(async (tx) => {
    const names = { username: 'root', name: 'Administrator', email: 'admin@example.com' };
    const id = await insertUser(tx, null, { ...names, password_hash, admin: 1 });
    if (config.root_token !== null) {
      const token = { user_id: id, kind: 'personal', name: 'first start', scopes: ['api', 'sudo'] } as const;
      await insertToken(
        tx,
        null,
        { ...token, scopes: [...token.scopes], expires_at: null },
        config.root_token,
      );
    }
  });
