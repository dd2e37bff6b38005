/** Users whom a record names by id in its own column, such as `closed_by_id`. */
import { sql } from 'kysely';
import type { BasicUserRow } from '../../../identity/users/json.ts';

/** Columns of the table `users` joined under the alias `name`; all null if the record names nobody. */
export const joinedUserColumns = <N extends string>(name: N) =>
  [
    sql<string | null>`${sql.ref(`${name}.name`)}`.as<`${N}_name`>(`${name}_name`),
    sql<string | null>`${sql.ref(`${name}.username`)}`.as<`${N}_username`>(`${name}_username`),
    sql<BasicUserRow['state'] | null>`${sql.ref(`${name}.state`)}`.as<`${N}_state`>(`${name}_state`),
    sql<string | null>`${sql.ref(`${name}.email`)}`.as<`${N}_email`>(`${name}_email`),
    sql<string | null>`${sql.ref(`${name}.avatar`)}`.as<`${N}_avatar`>(`${name}_avatar`),
  ] as const;

type JoinedUser<N extends string> = { [C in `${N}_id`]: number | null } & {
  [C in `${N}_name` | `${N}_username` | `${N}_email` | `${N}_avatar`]: string | null;
} & { [C in `${N}_state`]: BasicUserRow['state'] | null };

/** The user of `joinedUserColumns(name)`; null if the record names nobody. */
export const joinedUser = <N extends string>(row: JoinedUser<N>, name: N): BasicUserRow | null => {
  // The compiler does not resolve columns whose names depend on N.
  const columns: JoinedUser<string> = row;
  const id = columns[`${name}_id`] ?? null;
  if (id === null) return null;
  return {
    id,
    name: columns[`${name}_name`] ?? '',
    username: columns[`${name}_username`] ?? '',
    state: columns[`${name}_state`] ?? 'active',
    email: columns[`${name}_email`] ?? '',
    avatar: columns[`${name}_avatar`] ?? null,
  };
};
