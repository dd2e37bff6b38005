/**
 * Copies the labels of the former groups that a transferred project's issues and merge requests carry into the
 * project.
 */
import { sql } from 'kysely';
import { insertRow } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import { selectAncestors } from '../../identity/namespaces/ancestors.ts';
import { findLabels } from './find_by_title.ts';

type TransferredProject = { id: number; namespace_id: number };

type Left = { id: number; title: string; color: string; description: string | null };

/** Over `label_links`: links of the project's issues and merge requests. */
const ofProject = ({ id }: TransferredProject) => sql<boolean>`(
  (target_type = 'Issue' and target_id in (select id from issues where project_id = ${id}))
  or (target_type = 'MergeRequest' and target_id in (select id from merge_requests where project_id = ${id})))`;

const leftLabels = async (tx: Tx, project: TransferredProject): Promise<Left[]> => {
  const { rows } = await sql<Left>`select id, title, color, description from labels
    where group_id is not null and group_id not in ${selectAncestors(project.namespace_id)}
      and id in (select label_id from label_links where ${ofProject(project)})
    order by title`.execute(tx.db);
  return rows;
};

/** Finds the label of this title at the project's new place. */
const standIn = async (
  tx: Tx,
  project: TransferredProject,
  { title, color, description }: Left,
): Promise<number> => {
  const [match] = await findLabels(tx.db, project, [title]);
  if (match !== undefined) return match.id;
  const times = { created_at: tx.now, updated_at: tx.now };
  const own = { project_id: project.id, group_id: null, title, color, description, priority: null };
  return await insertRow(tx.db, 'labels', { ...own, ...times });
};

/** @param project at its new place */
export const bringLabels = async (tx: Tx, project: TransferredProject): Promise<void> => {
  for (const left of await leftLabels(tx, project)) {
    const id = await standIn(tx, project, left);
    const its = sql<boolean>`label_id = ${left.id} and ${ofProject(project)}`;
    await sql`insert into label_links (target_type, target_id, label_id, target_created_at)
      select target_type, target_id, ${id}, target_created_at from label_links where ${its}
      on conflict do nothing`.execute(tx.db);
    await sql`delete from label_links where ${its}`.execute(tx.db);
  }
};
