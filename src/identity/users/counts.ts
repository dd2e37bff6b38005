import { sql } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';

export type UserCounts = {
  all: number;
  active: number;
  blocked: number;
  admins: number;
  external: number;
  /** Active users without a second factor. */
  without_two_factor: number;
};

/** Counts users for administrators, in one statement. The ghost user is not counted. */
export const countUsers = async (db: Reader): Promise<UserCounts> => {
  const { rows } = await sql<UserCounts>`select
    count(*) as "all",
    count(*) filter (where state = 'active') as active,
    count(*) filter (where state = 'blocked') as blocked,
    count(*) filter (where admin = 1) as admins,
    count(*) filter (where external = 1) as external,
    count(*) filter (where two_factor_enabled = 0 and state = 'active') as without_two_factor
    from users where ghost = 0`.execute(db);
  const [counts] = rows;
  if (counts === undefined) throw new Error('a count has one row');
  return counts;
};
