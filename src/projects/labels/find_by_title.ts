import { compiled } from '../../platform/db/compiled_query.ts';
import { keepUntilChange } from '../../platform/db/keep_until_change.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import { type Cause, recordEvent } from '../../core/events/record_event.ts';
import type { Project } from '../projects/find.ts';
import { selectAncestors } from '../../identity/namespaces/ancestors.ts';

/** Color of a label that is created only from its title. */
const plainColor = '#428BCA';
const maxTitleLength = 255;

export type LabelRef = { id: number; title: string };

type LabelQuery = { titles: readonly string[]; project_id: number; namespace_id: number };

const selectLabelsByTitle = compiled((db, { titles, project_id, namespace_id }: LabelQuery, dialect) =>
  db
    .selectFrom('labels')
    .select(['id', 'title', 'project_id'])
    .where(dialect.oneOf('title', titles))
    .where((is) =>
      is.or([is('project_id', '=', project_id), is('group_id', 'in', selectAncestors(namespace_id))]),
    )
    .orderBy('id')
    .compile(),
);

/** More titles are looked up each time. */
const maxKeptTitles = 20;

const keepLabels = keepUntilChange<readonly LabelRef[]>(['labels', 'namespaces'], 2_000);

/**
 * Finds the labels with these titles in a project and the groups above it. The project's own labels take precedence.
 */
export const findLabels = async (
  db: Reader,
  project: { id: number; namespace_id: number },
  titles: readonly string[],
): Promise<readonly LabelRef[]> => {
  if (titles.length === 0) return [];
  const query = { titles, project_id: project.id, namespace_id: project.namespace_id };
  if (titles.length > maxKeptTitles) return await selectLabels(db, query);
  const key = JSON.stringify([project.id, project.namespace_id, titles]);
  return await keepLabels(db, key, async () => await selectLabels(db, query));
};

const selectLabels = async (db: Reader, query: LabelQuery): Promise<LabelRef[]> => {
  const rows = await selectLabelsByTitle(db, query);
  const byTitle = new Map<string, LabelRef>();
  for (const { id, title, project_id } of rows) {
    if (project_id !== null || !byTitle.has(title)) byTitle.set(title, { id, title });
  }
  return [...byTitle.values()];
};

/** Finds labels like `findLabels`, and creates missing labels in the project. Skips titles that are too long. */
export const findOrCreateLabels = async (
  tx: Tx,
  cause: Cause,
  project: Project,
  titles: readonly string[],
): Promise<readonly LabelRef[]> => {
  const requested = [...new Set(titles)].filter(
    (title) => title !== '' && [...title].length <= maxTitleLength,
  );
  const labels = await findLabels(tx.db, project, requested);
  const existingTitles = new Set(labels.map(({ title }) => title));
  // Sorted, so that concurrent creations of the same labels do not deadlock.
  const missing = requested.filter((title) => !existingTitles.has(title)).toSorted();
  if (missing.length === 0) return labels;
  const common = {
    project_id: project.id,
    group_id: null,
    color: plainColor,
    description: null,
    priority: null,
  };
  const rows = missing.map((title) => ({ ...common, title, created_at: tx.now, updated_at: tx.now }));
  // A concurrent transaction may create the same label, which is then used here, too.
  await tx.db
    .insertInto('labels')
    .values(rows)
    .onConflict((clash) => clash.columns(['project_id', 'title']).doNothing())
    .execute();
  const created = await findLabels(tx.db, project, missing);
  for (const { id, title } of created) {
    const change = { kind: 'label.created', project_id: project.id, target_type: 'Label', target_id: id };
    await recordEvent(tx, cause, { ...change, data: { title } });
  }
  return [...labels, ...created];
};
