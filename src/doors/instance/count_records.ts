import type { Reader } from '../../platform/db/open.ts';

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
