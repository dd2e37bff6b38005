/** Loads the parts that snapshots share, in the transaction of a change. */
import type { Tx } from '../../../platform/db/open.ts';
import type { TargetType } from '../../../platform/db/schema/column_types.ts';
import type { LabelFacts, ProjectFacts, UserFacts } from './snapshot.ts';

const projectColumns = [
  'projects.id',
  'projects.name',
  'projects.path',
  'projects.full_path',
  'projects.description',
  'projects.visibility',
  'projects.default_branch',
  'projects.ci_config_path',
  'projects.avatar',
  'projects.created_at',
  'projects.updated_at',
  'projects.repository_storage',
  'projects.repository_path',
  'projects.repository_written',
  'projects.creator_id',
  'namespaces.name as namespace_name',
] as const;

export const loadProjectFacts = async ({ db }: Tx, id: number | null): Promise<ProjectFacts | null> => {
  if (id === null) return null;
  const row = await db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select(projectColumns)
    .where('projects.id', '=', id)
    .executeTakeFirst();
  return row ?? null;
};

export const loadUserFacts = async (
  { db, dialect }: Tx,
  ids: readonly (number | null | undefined)[],
): Promise<{ [id: string]: UserFacts }> => {
  const known = [...new Set(ids.filter((id): id is number => typeof id === 'number'))];
  if (known.length === 0) return {};
  const rows = await db
    .selectFrom('users')
    .select(['id', 'name', 'username', 'email', 'avatar', 'state', 'created_at', 'updated_at'])
    .where(dialect.oneOf('id', known))
    .execute();
  return Object.fromEntries(rows.map((row) => [String(row.id), row]));
};

export const loadLabelFacts = async ({ db }: Tx, type: TargetType, id: number): Promise<LabelFacts[]> =>
  await db
    .selectFrom('labels')
    .innerJoin('label_links', 'label_links.label_id', 'labels.id')
    .selectAll('labels')
    .where('label_links.target_type', '=', type)
    .where('label_links.target_id', '=', id)
    .orderBy('labels.title')
    .orderBy('labels.id')
    .execute();

export const loadAssigneeIds = async ({ db }: Tx, type: TargetType, id: number): Promise<number[]> => {
  const rows = await db
    .selectFrom('assignees')
    .select('user_id')
    .where('target_type', '=', type)
    .where('target_id', '=', id)
    .orderBy('position')
    .orderBy('user_id')
    .execute();
  return rows.map(({ user_id }) => user_id);
};
