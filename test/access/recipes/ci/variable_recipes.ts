/** Requests for the rows about variables. */
import { insertRow } from '../../../../src/platform/db/insert.ts';
import type { Tx } from '../../../../src/platform/db/open.ts';
import type { VariablesTable } from '../../../../src/platform/db/schema/ci.ts';
import { sealValue } from '../../../../src/ci/variables/queries.ts';
import { unique } from '../../../support/seed.ts';
import type { Maker } from '../../makers/makers.ts';
import type { Recipe } from '../recipes.ts';
import type { World } from '../../world.ts';

/** A variable of the cell's project or group. */
const variable: Maker = async (tx, cells, { gantry }) => {
  for (const { row, names } of cells) {
    const source_id = Number(names[row.kind === 'group' ? 'group' : 'project']);
    names['key'] = await insertVariable(
      tx,
      gantry,
      row.kind === 'group' ? 'Namespace' : 'Project',
      source_id,
    );
  }
};

/** The instance has few variables: administrators, who may change them, have one each; the others share one. */
const ofInstance: Maker = async (tx, cells, { gantry }) => {
  const shared = await insertVariable(tx, gantry, 'Instance', 0);
  for (const { person, names } of cells) {
    names['key'] = person.name === 'admin' ? await insertVariable(tx, gantry, 'Instance', 0) : shared;
  }
};

const insertVariable = async (
  tx: Tx,
  gantry: World['gantry'],
  source_type: VariablesTable['source_type'],
  source_id: number,
): Promise<string> => {
  const key = freshKey();
  await insertRow(tx.db, 'variables', {
    source_type,
    source_id,
    key,
    sealed_value: sealValue(gantry.service.platform, 'x'),
    description: null,
    created_at: tx.now,
    updated_at: tx.now,
  });
  return key;
};

const freshKey = (): string => unique('KEY').replaceAll(/\W/g, '_');

const recipesOf = (path: string, made: Recipe): Record<string, Recipe> => ({
  [`POST ${path}`]: { body: () => ({ key: freshKey(), value: 'x' }) },
  [`GET ${path}/:key`]: made,
  [`PUT ${path}/:key`]: { ...made, body: () => ({ value: 'y' }) },
  [`DELETE ${path}/:key`]: made,
});

export const variableRecipes: Record<string, Recipe> = {
  ...recipesOf('/projects/:id/variables', { makes: [variable] }),
  ...recipesOf('/groups/:id/variables', { makes: [variable] }),
  ...recipesOf('/admin/ci/variables', { makes: [ofInstance] }),
};
