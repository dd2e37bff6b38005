/**
 * Finds the labels and milestones of groups that the project used. If no group above the restored project has one
 * of that title, the project gets its own.
 */
import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/open.ts';
import { takeIid } from '../../../projects/projects/take_iid.ts';
import type { Copying } from './copy_rows.ts';
import type { Row } from './column_rules.ts';

type Kind = 'labels' | 'milestones';

const columns = { labels: 'label_id', milestones: 'milestone_id' } as const;
const users = {
  labels: ['label_links', 'resource_events', 'board_lists', 'board_labels'],
  milestones: ['issues', 'merge_requests', 'resource_events', 'board_lists', 'boards', 'release_milestones'],
} as const;

/** Lists the records of groups that rows of any project refer to, of the groups above the project. */
const listUsed = ({ snapshot, project }: Copying, kind: Kind): (Row & { id: number; title: string })[] => {
  const used = users[kind].map((table) => `select ${columns[kind]} from ${table}`).join(' union ');
  return snapshot.all(
    `with recursive above (id) as (
      select namespace_id from projects where id = ?1
      union select parent_id from namespaces join above on namespaces.id = above.id where parent_id is not null)
    select * from ${kind} where group_id in (select id from above) and id in (${used}) order by id`,
    project.oldId,
  );
};

const findPresent = async (
  { db }: Tx,
  kind: Kind,
  { title, projectId }: { title: string; projectId: number },
): Promise<number | undefined> => {
  const { rows } = await sql<{ id: number }>`
    with recursive above (id) as (
      select namespace_id from projects where id = ${projectId}
      union select parent_id from namespaces join above on namespaces.id = above.id where parent_id is not null)
    select id from ${sql.table(kind)}
    where title = ${title} and (project_id = ${projectId} or group_id in (select id from above))
    order by case when project_id is null then 0 else 1 end, id limit 1`.execute(db);
  return rows[0]?.id;
};

const insertOwn = async (tx: Tx, kind: Kind, record: Row, projectId: number): Promise<number> => {
  const { id: _id, ...rest } = record;
  const own: Row = { ...rest, project_id: projectId, group_id: null };
  if (kind === 'milestones') own['iid'] = await takeIid(tx, projectId, 'milestone');
  const names = sql.join(Object.keys(own).map((column) => sql.ref(column)));
  const { rows } = await sql<{ id: number }>`insert into ${sql.table(kind)} (${names})
    values (${sql.join(Object.values(own))}) returning id`.execute(tx.db);
  return rows[0]?.id ?? 0;
};

/** Adds the ids of inherited labels and milestones to the ids of the project. */
export const mapInheritedRecords = async (copying: Copying): Promise<void> => {
  const { store, project } = copying;
  for (const kind of ['labels', 'milestones'] as const) {
    const ids = project.ids.get(kind);
    for (const record of listUsed(copying, kind))
      await store.write(async (tx) => {
        const searched = { title: record.title, projectId: project.id };
        const present = await findPresent(tx, kind, searched);
        ids?.set(record.id, present ?? (await insertOwn(tx, kind, record, project.id)));
      });
  }
};
