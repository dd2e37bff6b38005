/** Authenticates deploy tokens, which take the place of a password with their user name. */
import { hashToken } from '../../core/access/credentials/token_text.ts';
import { levels } from '../../core/access/levels.ts';
import { type Viewer, anonymous } from '../../core/access/viewer.ts';
import type { Platform } from '../../core/platform.ts';
import { selectDescendants } from '../../identity/namespaces/ancestors.ts';
import type { Basic } from '../../identity/sessions/basic_auth.ts';
import type { Reader } from '../../platform/db/open.ts';
import { unauthorized } from '../../platform/errors.ts';

export const deployTokenPrefix = 'gntdt';

export const isDeployToken = ({ password }: Basic): boolean => password.startsWith(`${deployTokenPrefix}-`);

export type DeployTokenScope = 'read_repository' | 'read_registry' | 'write_registry';

export type AuthenticatedDeployToken = { viewer: Viewer; scopes: readonly string[]; username: string };

type Place = { project_id: number | null; group_id: number | null };

/** Builds a viewer with a role in the project, or in all projects of the group. */
const loadDeployViewer = async (
  db: Reader,
  { project_id, group_id }: Place,
  level: number,
): Promise<Viewer> => {
  if (project_id !== null) return { ...anonymous, projectLevels: new Map([[project_id, level]]) };
  const groups = await db
    .selectFrom('namespaces')
    .select('id')
    .where('id', 'in', selectDescendants(group_id ?? 0))
    .execute();
  return { ...anonymous, namespaceLevels: new Map(groups.map(({ id }) => [id, level])) };
};

const useInterval = 10 * 60_000;

type TokenUse = { now: number; ip: string };

/** Records the use of a token, at most every ten minutes, without delaying the request. */
const recordUse = (
  { store }: Pick<Platform, 'store'>,
  { id, last_used_at }: { id: number; last_used_at: number | null },
  { now, ip }: TokenUse,
): void => {
  if (last_used_at !== null && now - last_used_at < useInterval) return;
  void store
    .write(
      async ({ db }) =>
        await db
          .updateTable('deploy_tokens')
          .set({ last_used_at: now, last_used_ip: ip })
          .where('id', '=', id)
          .execute(),
    )
    .catch(() => undefined);
};

/** @param ip address of the client. @throws Failure 401 for an unknown or expired token, or another user name */
export const authenticateDeployToken = async (
  platform: Platform,
  { login, password }: Basic,
  ip: string,
): Promise<AuthenticatedDeployToken> => {
  const { store, clock } = platform;
  const now = clock.now();
  const row = await store.db
    .selectFrom('deploy_tokens')
    .selectAll()
    .where('token_hash', '=', hashToken(password))
    .executeTakeFirst();
  if (row === undefined || row.username !== login || (row.expires_at !== null && row.expires_at <= now))
    throw unauthorized();
  recordUse(platform, row, { now, ip });
  const scopes = JSON.parse(row.scopes) as string[];
  const level = scopes.includes('write_registry') ? levels.developer : levels.reporter;
  return { viewer: await loadDeployViewer(store.db, row, level), scopes, username: row.username };
};
