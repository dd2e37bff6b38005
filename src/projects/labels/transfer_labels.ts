/**
 * After a transfer of a project: copies labels of its former groups that its issues, merge requests and boards use into
 * the project.
 */
import { sql } from 'kysely';
import { insertRow } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import { selectAncestors } from '../../identity/namespaces/ancestors.ts';
import { findLabels } from './find_by_title.ts';

type TransferredProject = { id: number; namespace_id: number };

type FormerLabel = { id: number; title: string; color: string; description: string | null };

/** Over `label_links`: links of the project's issues and merge requests. */
const ofProject = ({ id }: TransferredProject) => sql<boolean>`(
  (target_type = 'Issue' and target_id in (select id from issues where project_id = ${id}))
  or (target_type = 'MergeRequest' and target_id in (select id from merge_requests where project_id = ${id})))`;

const selectBoards = ({ id }: TransferredProject) => sql`select id from boards where project_id = ${id}`;

/** Subquery: labels that the project's boards name. */
const onBoards = (project: TransferredProject) =>
  sql`select label_id from board_lists where label_id is not null and board_id in (${selectBoards(project)})
    union select label_id from board_labels where board_id in (${selectBoards(project)})`;

/** Replaces a label on the project's boards. Boards that have the new label already are left as they are. */
const updateBoards = async (tx: Tx, project: TransferredProject, from: number, to: number): Promise<void> => {
  for (const table of ['board_lists', 'board_labels'] as const) {
    const own = sql`select board_id from ${sql.table(table)} where label_id = ${to}`;
    await sql`update ${sql.table(table)} set label_id = ${to} where label_id = ${from}
      and board_id in (${selectBoards(project)}) and board_id not in (${own})`.execute(tx.db);
  }
};

const listFormerLabels = async (tx: Tx, project: TransferredProject): Promise<FormerLabel[]> => {
  const { rows } = await sql<FormerLabel>`select id, title, color, description from labels
    where group_id is not null and group_id not in ${selectAncestors(project.namespace_id)}
      and (id in (select label_id from label_links where ${ofProject(project)}) or id in (${onBoards(project)}))
    order by title`.execute(tx.db);
  return rows;
};

/** Returns the label of this title that the project has in its new namespace; copies it if it is missing. */
const findOrCopyLabel = async (
  tx: Tx,
  project: TransferredProject,
  { title, color, description }: FormerLabel,
): Promise<number> => {
  const [match] = await findLabels(tx.db, project, [title]);
  if (match !== undefined) return match.id;
  const times = { created_at: tx.now, updated_at: tx.now };
  const own = { project_id: project.id, group_id: null, title, color, description, priority: null };
  return await insertRow(tx.db, 'labels', { ...own, ...times });
};

/** @param project with its new namespace */
export const transferLabels = async (tx: Tx, project: TransferredProject): Promise<void> => {
  for (const former of await listFormerLabels(tx, project)) {
    const id = await findOrCopyLabel(tx, project, former);
    const its = sql<boolean>`label_id = ${former.id} and ${ofProject(project)}`;
    await sql`insert into label_links (target_type, target_id, label_id, target_created_at)
      select target_type, target_id, ${id}, target_created_at from label_links where ${its}
      on conflict do nothing`.execute(tx.db);
    await sql`delete from label_links where ${its}`.execute(tx.db);
    await updateBoards(tx, project, former.id, id);
  }
};
