import { sql } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';
import type { Visibility } from '../../platform/db/schema/column_types.ts';

export type Counts = { users: number; blocked: number; groups: number; projects: number };

/** Counts users, groups and projects of the instance. */
export const countAll = async (db: Reader): Promise<Counts> => {
  const people = db.selectFrom('users').where('ghost', '=', 0);
  const groups = db.selectFrom('namespaces').where('kind', '=', 'group');
  const projects = db.selectFrom('projects').where('deleted_at', 'is', null);
  const [users, blocked, groupCount, projectCount] = await Promise.all([
    people.select((one) => one.fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
    people
      .where('state', '=', 'blocked')
      .select((one) => one.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
    groups.select((one) => one.fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
    projects.select((one) => one.fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  ]);
  return {
    users: users.count,
    blocked: blocked.count,
    groups: groupCount.count,
    projects: projectCount.count,
  };
};

type ByVisibility = Record<'all' | Visibility, number>;

const sumUp = (rows: readonly { visibility: Visibility; count: number }[]): ByVisibility => {
  const counts: ByVisibility = { all: 0, public: 0, internal: 0, private: 0 };
  for (const { visibility, count } of rows) {
    counts[visibility] = count;
    counts.all += count;
  }
  return counts;
};

/** Counts groups by visibility. */
export const countGroups = async (db: Reader): Promise<ByVisibility> =>
  sumUp(
    await db
      .selectFrom('namespaces')
      .select((is) => ['visibility', is.fn.countAll<number>().as('count')])
      .where('kind', '=', 'group')
      .where('deleted_at', 'is', null)
      .groupBy('visibility')
      .execute(),
  );

/** Counts projects by visibility, and archived projects. */
export const countProjects = async (db: Reader): Promise<ByVisibility & { archived: number }> => {
  const projects = db.selectFrom('projects').where('deleted_at', 'is', null);
  const [rows, archived] = await Promise.all([
    projects
      .select((is) => ['visibility', is.fn.countAll<number>().as('count')])
      .groupBy('visibility')
      .execute(),
    projects
      .select((is) => is.fn.countAll<number>().as('count'))
      // As the partial index has it.
      .where(sql<boolean>`archived = 1`)
      .executeTakeFirstOrThrow(),
  ]);
  return { ...sumUp(rows), archived: archived.count };
};
