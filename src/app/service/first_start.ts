import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../platform/config/fields.ts';
import type { Store } from '../../platform/db/open.ts';
import { insertToken } from '../../identity/tokens/create.ts';
import { insertUser } from '../../identity/users/create.ts';
import { hashPassword } from '../../identity/users/password.ts';
import { writePrivate } from './data_folder.ts';

/** Name of the file in the data folder that holds the generated password. */
export const passwordFile = 'initial_root_password';

/** Returns whether no user has been created yet. */
export const isFirstStart = async (store: Store): Promise<boolean> => {
  const row = await store.db.selectFrom('users').select('id').limit(1).executeTakeFirst();
  return row === undefined;
};

/**
 * Creates the administrator `root` (id 1) with the configured password and token.
 * @returns the generated password, to be shown once; null if the password was configured or another service was first
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
