import { compiled } from '../db/compiled.ts';
import type { Reader, Tx } from '../db/open.ts';
import { type Cause, recordEvent } from '../events/record.ts';
import type { Project } from '../projects/find.ts';
import { ancestorsOf } from '../namespaces/ancestors.ts';

/** The colour of a label that is created by its mere name. */
const plainColor = '#428BCA';
const longestTitle = 255;

export type LabelRef = { id: number; title: string };

type Asked = { titles: readonly string[]; project_id: number; namespace_id: number };

const labelsByTitle = compiled((db, { titles, project_id, namespace_id }: Asked, words) =>
  db
    .selectFrom('labels')
    .select(['id', 'title', 'project_id'])
    .where(words.oneOf('title', titles))
    .where((is) =>
      is.or([is('project_id', '=', project_id), is('group_id', 'in', ancestorsOf(namespace_id))]),
    )
    .orderBy('id')
    .compile(),
);

/** The labels of a project and of the groups above it that have one of these titles; the project's own win. */
export const findLabels = async (
  db: Reader,
  project: { id: number; namespace_id: number },
  titles: readonly string[],
): Promise<LabelRef[]> => {
  if (titles.length === 0) return [];
  const rows = await labelsByTitle(db, {
    titles,
    project_id: project.id,
    namespace_id: project.namespace_id,
  });
  const byTitle = new Map<string, LabelRef>();
  for (const { id, title, project_id } of rows) {
    if (project_id !== null || !byTitle.has(title)) byTitle.set(title, { id, title });
  }
  return [...byTitle.values()];
};

/** As `findLabels`; a title that no label has becomes a label of the project. Over-long titles are left out. */
export const findOrCreateLabels = async (
  tx: Tx,
  cause: Cause,
  project: Project,
  titles: readonly string[],
): Promise<LabelRef[]> => {
  const wanted = [...new Set(titles)].filter((title) => title !== '' && [...title].length <= longestTitle);
  const found = await findLabels(tx.db, project, wanted);
  const known = new Set(found.map(({ title }) => title));
  // In one order for all: two who create the same labels must not wait for each other.
  const missing = wanted.filter((title) => !known.has(title)).toSorted();
  if (missing.length === 0) return found;
  const common = {
    project_id: project.id,
    group_id: null,
    color: plainColor,
    description: null,
    priority: null,
  };
  const rows = missing.map((title) => ({ ...common, title, created_at: tx.now, updated_at: tx.now }));
  // Another transaction may create the same label meanwhile: then it is this one's, too.
  await tx.db
    .insertInto('labels')
    .values(rows)
    .onConflict((clash) => clash.columns(['project_id', 'title']).doNothing())
    .execute();
  const created = await findLabels(tx.db, project, missing);
  for (const { id, title } of created) {
    const change = { kind: 'label.created', project_id: project.id, target_type: 'Label', target_id: id };
    // oxlint-disable-next-line no-await-in-loop -- few, and in one transaction
    await recordEvent(tx, cause, { ...change, data: { title } });
  }
  return [...found, ...created];
};
