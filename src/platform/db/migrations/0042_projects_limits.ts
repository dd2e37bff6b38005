import type { MigrationText } from '../ddl_keywords.ts';

/**
 * Gives every user a project limit of their own. Users without one get the instance's current default, and at least
 * the number of projects they have. Administrators get the default, so that none is blocked.
 */
export const projectsLimits: MigrationText = {
  name: '0042_projects_limits',
  statements: ({ integer }) => {
    const current = `coalesce(
      (select cast(value as ${integer}) from settings where name = 'default_projects_limit'), 100000)`;
    const existing = `(select count(*) from projects join namespaces on namespaces.id = projects.namespace_id
      where namespaces.kind = 'user' and namespaces.owner_id = users.id and projects.deleted_at is null)`;
    const least = `case when admin = 1 and external = 0 then 100000 else ${existing} end`;
    return [
      `update users set projects_limit = case when ${current} > ${least} then ${current} else ${least} end
        where projects_limit is null`,
    ];
  },
};
