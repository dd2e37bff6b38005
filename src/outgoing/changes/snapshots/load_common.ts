/** Loads the parts that snapshots share, in the transaction of a change. */
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Tx } from '../../../platform/db/open.ts';
import type { TargetType } from '../../../platform/db/schema/column_types.ts';
import { findLabels } from '../../../projects/labels/find_by_title.ts';
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

const projectFacts = compiled((db, { id }: { id: number }) =>
  db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select(projectColumns)
    .where('projects.id', '=', id)
    .compile(),
);

export const loadProjectFacts = async ({ db }: Tx, id: number | null): Promise<ProjectFacts | null> => {
  if (id === null) return null;
  const [row] = await projectFacts(db, { id });
  return row ?? null;
};

const userFacts = compiled((db, { ids }: { ids: readonly number[] }, dialect) =>
  db
    .selectFrom('users')
    .select(['id', 'name', 'username', 'email', 'avatar', 'state', 'created_at', 'updated_at'])
    .where(dialect.oneOf('id', ids))
    .compile(),
);

export const loadUserFacts = async (
  { db }: Tx,
  ids: readonly (number | null | undefined)[],
): Promise<{ [id: string]: UserFacts }> => {
  const userIds = [...new Set(ids.filter((id): id is number => typeof id === 'number'))];
  if (userIds.length === 0) return {};
  const rows = await userFacts(db, { ids: userIds });
  return Object.fromEntries(rows.map((row) => [String(row.id), row]));
};

type Target = { type: TargetType; id: number };

const labelFacts = compiled((db, { type, id }: Target) =>
  db
    .selectFrom('labels')
    .innerJoin('label_links', 'label_links.label_id', 'labels.id')
    .selectAll('labels')
    .where('label_links.target_type', '=', type)
    .where('label_links.target_id', '=', id)
    .orderBy('labels.title')
    .orderBy('labels.id')
    .compile(),
);

export const loadLabelFacts = async ({ db }: Tx, type: TargetType, id: number): Promise<LabelFacts[]> =>
  await labelFacts(db, { type, id });

/** Loads the labels that a change removed, of which the change log keeps the titles. */
export const loadRemovedLabels = async (
  { db, dialect }: Tx,
  project_id: number | null,
  { labels }: { labels?: [string[], string[]] },
): Promise<LabelFacts[]> => {
  const [before = [], after = []] = labels ?? [];
  const titles = before.filter((title) => !after.includes(title));
  if (project_id === null || titles.length === 0) return [];
  const projects = db.selectFrom('projects').select(['id', 'namespace_id']);
  const project = await projects.where('id', '=', project_id).executeTakeFirst();
  const refs = project === undefined ? [] : await findLabels(db, project, titles);
  if (refs.length === 0) return [];
  const ids = refs.map(({ id }) => id);
  return await db.selectFrom('labels').selectAll().where(dialect.oneOf('id', ids)).execute();
};

const assigneeIds = compiled((db, { type, id }: Target) =>
  db
    .selectFrom('assignees')
    .select('user_id')
    .where('target_type', '=', type)
    .where('target_id', '=', id)
    .orderBy('position')
    .orderBy('user_id')
    .compile(),
);

export const loadAssigneeIds = async ({ db }: Tx, type: TargetType, id: number): Promise<number[]> =>
  (await assigneeIds(db, { type, id })).map(({ user_id }) => user_id);
