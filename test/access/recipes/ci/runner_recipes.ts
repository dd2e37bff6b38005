/** Requests for the rows about runners. */
import { randomBytes } from 'node:crypto';
import { hashToken, generateTokenText } from '../../../../src/core/access/credentials/token_text.ts';
import type { RunnerType } from '../../../../src/platform/db/schema/runners.ts';
import { defaultFacts } from '../../../../src/ci/runners/rules.ts';
import type { Cell, Maker } from '../../makers/makers.ts';
import type { Recipe } from '../recipes.ts';
import { insertAll } from '../../makers/bulk_rows.ts';
import type { Names } from '../../world.ts';

/** Stores the text of a new token under a name and returns its hash. */
const nameToken = ({ names }: Cell): string => {
  const token = generateTokenText(randomBytes, 'glrt');
  names['runner_token'] = token;
  return hashToken(token);
};

/** Creates a runner for each cell: of the instance, of the cell's group, or of these projects. */
const runner =
  (runner_type: RunnerType, projects: readonly string[] = []): Maker =>
  async (tx, cells) => {
    const times = { contacted_at: null, created_at: tx.now, updated_at: tx.now };
    const rows = cells.map((cell) => ({
      ...defaultFacts,
      token_hash: nameToken(cell),
      token_start: 'glrt-',
      runner_type,
      creator_id: null,
      ...times,
    }));
    const ids = await insertAll(tx, 'runners', rows);
    const links = cells.flatMap(({ names }, at) => {
      names['runner_id'] = ids[at] ?? 0;
      return projects.map((name) => ({ runner_id: ids[at] ?? 0, project_id: Number(names[name]) }));
    });
    const ofGroups = cells.map(({ names }, at) => ({
      runner_id: ids[at] ?? 0,
      namespace_id: Number(names['group']),
    }));
    if (links.length > 0) await tx.db.insertInto('runner_projects').values(links).execute();
    if (runner_type === 'group_type') await tx.db.insertInto('runner_groups').values(ofGroups).execute();
  };

const machine: Maker = async (tx, cells) => {
  const none = { version: null, revision: null, platform: null, architecture: null, executor: null };
  const rows = cells.map(({ names }) => ({
    runner_id: Number(names['runner_id']),
    system_id: 's_1',
    ...none,
    ip_address: null,
    contacted_at: tx.now,
    created_at: tx.now,
  }));
  await tx.db.insertInto('runner_managers').values(rows).execute();
};

/** Creates a project for each cell, with a token that registers runners in it. */
const registration: Maker = async (tx, cells, { people }) => {
  for (const cell of cells) {
    const { names } = cell;
    const runners_token_hash = nameToken(cell);
    const { namespace_id } = await tx.db
      .selectFrom('projects')
      .select('namespace_id')
      .where('id', '=', Number(names['project']))
      .executeTakeFirstOrThrow();
    const path = runners_token_hash.slice(0, 20);
    const times = { created_at: tx.now, updated_at: tx.now, last_activity_at: tx.now };
    const none = { description: null, default_branch: null, forked_from_project_id: null, deleted_at: null };
    const place = { namespace_id, path, full_path: path, name: path, visibility: 'private' as const };
    await tx.db
      .insertInto('projects')
      .values({ ...place, creator_id: people.writer, ...none, ...times, runners_token_hash })
      .execute();
  }
};

const byId = { path: { id: 'runner_id' } };
const ofInstance: Recipe = { makes: [runner('instance_type')], ...byId };
const ofGroup: Recipe = { makes: [runner('group_type')], ...byId };
const ofProject: Recipe = { makes: [runner('project_type', ['project'])], ...byId };

const recipesOf = (words: string, recipe: Recipe): Record<string, Recipe> => ({
  [`GET /runners/:id ${words}`]: recipe,
  [`PUT /runners/:id ${words}`]: { ...recipe, body: () => ({ description: 'Other' }) },
  [`DELETE /runners/:id ${words}`]: recipe,
  [`GET /runners/:id/jobs ${words}`]: recipe,
  [`GET /runners/:id/managers ${words}`]: recipe,
  [`POST /runners/:id/reset_authentication_token ${words}`]: recipe,
});

const token = ({ runner_token }: Names) => ({ token: runner_token, system_id: 's_1' });
const program: Recipe = { makes: [runner('instance_type'), machine], body: token };

export const ciRecipes: Record<string, Recipe> = {
  ...recipesOf('{of the instance}', ofInstance),
  ...recipesOf('{of the group}', ofGroup),
  ...recipesOf('{of the project}', ofProject),
  'POST /user/runners {of the instance}': { body: () => ({ runner_type: 'instance_type' }) },
  'POST /user/runners {of the group}': {
    body: ({ group }) => ({ runner_type: 'group_type', group_id: group }),
  },
  'POST /user/runners {of the project}': {
    body: ({ project }) => ({ runner_type: 'project_type', project_id: project }),
  },
  'POST /projects/:id/runners': {
    makes: [runner('project_type', ['personal'])],
    body: ({ runner_id }) => ({ runner_id }),
  },
  'DELETE /projects/:id/runners/:runner_id': { makes: [runner('project_type', ['project', 'personal'])] },
  'POST /runners': { makes: [registration], body: ({ runner_token }) => ({ token: runner_token }) },
  'POST /runners/verify': program,
  'DELETE /runners': program,
  'DELETE /runners/managers': program,
  'POST /runners/reset_authentication_token': program,
};
