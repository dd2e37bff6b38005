/** As recipes.ts, for variables. */
import { insertRow } from '../../src/db/insert.ts';
import { sealValue } from '../../src/variables/queries.ts';
import { unique } from '../support/seed.ts';
import type { Maker } from './makers.ts';
import type { Recipe } from './recipes.ts';

/** A variable of the cell's project or group, or of the instance. */
const variable: Maker = async (tx, cells, { gantry }) => {
  for (const { row, names } of cells) {
    const isInstance = row.kind !== 'project' && row.kind !== 'group';
    const source_type = isInstance ? 'Instance' : row.kind === 'group' ? 'Namespace' : 'Project';
    const key = unique('KEY').replaceAll(/\W/g, '_');
    names['key'] = key;
    await insertRow(tx.db, 'variables', {
      source_type,
      source_id: isInstance ? 0 : Number(names[row.kind === 'group' ? 'group' : 'project']),
      key,
      sealed_value: sealValue(gantry.service.platform, 'x'),
      description: null,
      created_at: tx.now,
      updated_at: tx.now,
    });
  }
};

const made: Recipe = { makes: [variable] };

const recipesOf = (path: string): Record<string, Recipe> => ({
  [`POST ${path}`]: { body: () => ({ key: unique('KEY').replaceAll(/\W/g, '_'), value: 'x' }) },
  [`GET ${path}/:key`]: made,
  [`PUT ${path}/:key`]: { ...made, body: () => ({ value: 'y' }) },
  [`DELETE ${path}/:key`]: made,
});

export const variableRecipes: Record<string, Recipe> = {
  ...recipesOf('/projects/:id/variables'),
  ...recipesOf('/groups/:id/variables'),
  ...recipesOf('/admin/ci/variables'),
};
