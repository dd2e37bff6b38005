import type { Platform } from '../access/call.ts';
import { seal, unseal } from '../access/seal.ts';
import { compiled } from '../db/compiled.ts';
import type { Reader } from '../db/open.ts';
import type { VariablesTable } from '../db/schema_ci.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { ancestorsOf } from '../namespaces/ancestors.ts';
import { type Variable, scopeMatches } from './rules.ts';

/** Whose variables: `id` 0 is the instance. */
export type Owner = { type: VariablesTable['source_type']; id: number };

const purpose = 'variable';

export const sealValue = ({ secrets }: Platform, value: string): string =>
  seal(secrets.encryption_key, purpose, value);

export const unsealValue = ({ secrets }: Platform, sealed: string): string =>
  unseal(secrets.encryption_key, purpose, sealed);

const columns = [
  'key',
  'sealed_value',
  'variable_type',
  'protected',
  'masked',
  'hidden',
  'raw',
  'environment_scope',
  'description',
] as const;

export const variablesOf = (db: Reader, { type, id }: Owner) =>
  db.selectFrom('variables').where('source_type', '=', type).where('source_id', '=', id);

type Row = Omit<Variable, 'value'> & { sealed_value: string };

const opened = (platform: Platform, { sealed_value, ...row }: Row): Variable => ({
  ...row,
  value: unsealValue(platform, sealed_value),
});

export const listVariables = async (
  platform: Platform,
  owner: Owner,
  { limit, offset }: PageRequest,
): Promise<Page<Variable>> => {
  const { db } = platform.store;
  const { total } = await variablesOf(db, owner)
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await variablesOf(db, owner)
    .select(columns)
    .orderBy('key')
    .orderBy('environment_scope')
    .limit(limit)
    .offset(offset)
    .execute();
  return { items: rows.map((row) => opened(platform, row)), total };
};

/** The variables of this key, by scope: several where the scopes differ. */
export const variablesOfKey = async (platform: Platform, db: Reader, owner: Owner, key: string) => {
  const rows = await variablesOf(db, owner)
    .select(['id', ...columns])
    .where('key', '=', key)
    .orderBy('environment_scope')
    .execute();
  return rows.map(({ id, ...row }) => ({ id, ...opened(platform, row) }));
};

/** How near the owner is to a job: later ones win. */
const nearness = { Instance: 0, Namespace: 1, Project: 2 } as const;

const reaching = compiled((db, given: { project_id: number; namespace_id: number }) =>
  db
    .selectFrom('variables')
    .leftJoin('namespaces', (join) =>
      join.onRef('namespaces.id', '=', 'variables.source_id').on('variables.source_type', '=', 'Namespace'),
    )
    .select([
      'variables.id',
      'source_type',
      'namespaces.full_path',
      ...columns.map((name) => `variables.${name}` as const),
    ])
    .where((is) =>
      is.or([
        is.and([is('source_type', '=', 'Instance'), is('source_id', '=', 0)]),
        is.and([is('source_type', '=', 'Project'), is('source_id', '=', given.project_id)]),
        is.and([is('source_type', '=', 'Namespace'), is('source_id', 'in', ancestorsOf(given.namespace_id))]),
      ]),
    )
    .compile(),
);

/**
 * The variables that a job gets, of the instance, of the groups above (nearest last) and of the project: one for each
 * key, those of protected refs only where `isProtected`.
 */
export const variablesForJob = async (
  platform: Platform,
  project: { id: number; namespace_id: number },
  { isProtected, environment }: { isProtected: boolean; environment: string | null },
): Promise<Variable[]> => {
  const { id: project_id, namespace_id } = project;
  const rows = await reaching(platform.store.db, { project_id, namespace_id });
  const fit = rows
    .filter((row) => (row.protected === 0 || isProtected) && scopeMatches(row.environment_scope, environment))
    .toSorted(
      (a, b) =>
        nearness[a.source_type] - nearness[b.source_type] ||
        (a.full_path ?? '').length - (b.full_path ?? '').length ||
        a.environment_scope.length - b.environment_scope.length,
    );
  const byKey = new Map(
    fit.map(({ id: _id, source_type: _type, full_path: _path, ...row }) => [row.key, opened(platform, row)]),
  );
  return [...byKey.values()];
};
