/** Requests for the rows about job token allow lists. */
import { type Maker, freshProject } from '../../makers/makers.ts';
import type { Recipe } from '../recipes.ts';

const listedProject: Maker = async (tx, cells, { names }) => {
  const target_project_id = Number(names['vault']);
  for (const cell of cells) {
    const row = { project_id: Number(cell.names['project']), target_project_id, created_at: tx.now };
    await tx.db.insertInto('job_token_projects').values(row).execute();
    Object.assign(cell.names, { target_project_id });
  }
};

const listedGroup: Maker = async (tx, cells) => {
  for (const cell of cells) {
    const target_group_id = Number(cell.names['group']);
    const row = { project_id: Number(cell.names['project']), target_group_id, created_at: tx.now };
    await tx.db.insertInto('job_token_groups').values(row).execute();
    Object.assign(cell.names, { target_group_id });
  }
};

const path = '/projects/:id/job_token_scope';

export const jobTokenRecipes: Record<string, Recipe> = {
  [`PATCH ${path}`]: { makes: [freshProject], body: () => ({ enabled: false }) },
  [`GET ${path}/allowlist`]: { holds: ({ id }, names) => id === names['project'] },
  [`POST ${path}/allowlist {visible}`]: {
    makes: [freshProject],
    body: ({ haven }) => ({ target_project_id: haven }),
  },
  [`POST ${path}/allowlist {hidden}`]: {
    makes: [freshProject],
    body: ({ vault }) => ({ target_project_id: vault }),
  },
  [`DELETE ${path}/allowlist/:target_project_id`]: { makes: [freshProject, listedProject] },
  [`GET ${path}/groups_allowlist`]: {
    makes: [freshProject, listedGroup],
    holds: ({ id }, names) => id === names['group'],
  },
  [`POST ${path}/groups_allowlist`]: {
    makes: [freshProject],
    body: ({ group }) => ({ target_group_id: group }),
  },
  [`DELETE ${path}/groups_allowlist/:target_group_id`]: { makes: [freshProject, listedGroup] },
};
