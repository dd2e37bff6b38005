/** Requests for the rows about stars. */
import { type Maker, freshProject } from '../makers/makers.ts';
import type { Recipe } from './recipes.ts';

const starred =
  (project: string, user: string): Maker =>
  async (tx, cells, { people }) => {
    const rows = cells.map(({ names, person }) => ({
      project_id: Number(names[project]),
      user_id: user === 'self' ? (person.user_id ?? people.writer) : Number(names[user]),
      created_at: tx.now,
    }));
    await tx.db
      .insertInto('project_stars')
      .values(rows)
      .onConflict((clash) => clash.doNothing())
      .execute();
  };

export const starRecipes: Record<string, Recipe> = {
  'POST /projects/:id/star': { makes: [freshProject] },
  'POST /projects/:id/unstar': { makes: [freshProject, starred('project', 'self')] },
  'GET /users/:user_id/starred_projects': {
    makes: [starred('personal', 'host')],
    path: { user_id: 'host' },
    holds: ({ id }, { personal }) => id === personal,
  },
};
