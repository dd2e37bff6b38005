import type { Platform } from '../../core/platform.ts';
import { seal, unseal } from '../../core/access/credentials/encrypt_secrets.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { VariablesTable } from '../../platform/db/schema/ci.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import { selectAncestors } from '../../identity/namespaces/ancestors.ts';
import { type Variable, matchesScope } from './rules.ts';

/** The owner of variables. The instance has `id` 0. */
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

export const selectOwnVariables = (db: Reader, { type, id }: Owner) =>
  db.selectFrom('variables').where('source_type', '=', type).where('source_id', '=', id);

type Row = Omit<Variable, 'value'> & { sealed_value: string };

const unsealRow = (platform: Platform, { sealed_value, ...row }: Row): Variable => ({
  ...row,
  value: unsealValue(platform, sealed_value),
});

export const listVariables = async (
  platform: Platform,
  owner: Owner,
  { limit, offset }: PageRequest,
): Promise<Page<Variable>> => {
  const { db } = platform.store;
  const { total } = await selectOwnVariables(db, owner)
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await selectOwnVariables(db, owner)
    .select(columns)
    .orderBy('key')
    .orderBy('environment_scope')
    .limit(limit)
    .offset(offset)
    .execute();
  return { items: rows.map((row) => unsealRow(platform, row)), total };
};

/** Loads the variables of a key, ordered by scope. Each has a different scope. */
export const loadVariablesByKey = async (platform: Platform, db: Reader, owner: Owner, key: string) => {
  const rows = await selectOwnVariables(db, owner)
    .select(['id', ...columns])
    .where('key', '=', key)
    .orderBy('environment_scope')
    .execute();
  return rows.map(({ id, ...row }) => ({ id, ...unsealRow(platform, row) }));
};

/** Precedence of owners: higher values override lower values. */
const precedence = { Instance: 0, Namespace: 1, Project: 2 } as const;

const selectReaching = compiled((db, input: { project_id: number; namespace_id: number }) =>
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
        is.and([is('source_type', '=', 'Project'), is('source_id', '=', input.project_id)]),
        is.and([
          is('source_type', '=', 'Namespace'),
          is('source_id', 'in', selectAncestors(input.namespace_id)),
        ]),
      ]),
    )
    .compile(),
);

/**
 * Loads a job's variables from the instance, the ancestor groups and the project, one per key; the nearest owner wins.
 * Protected variables are included only if `isProtected`.
 */
export const variablesForJob = async (
  platform: Platform,
  project: { id: number; namespace_id: number },
  { isProtected, environment }: { isProtected: boolean; environment: string | null },
): Promise<Variable[]> => {
  const { id: project_id, namespace_id } = project;
  const rows = await selectReaching(platform.store.db, { project_id, namespace_id });
  const applicable = rows
    .filter((row) => (row.protected === 0 || isProtected) && matchesScope(row.environment_scope, environment))
    .toSorted(
      (a, b) =>
        precedence[a.source_type] - precedence[b.source_type] ||
        (a.full_path ?? '').length - (b.full_path ?? '').length ||
        a.environment_scope.length - b.environment_scope.length,
    );
  const byKey = new Map(
    applicable.map(({ id: _id, source_type: _type, full_path: _path, ...row }) => [
      row.key,
      unsealRow(platform, row),
    ]),
  );
  return [...byKey.values()];
};
