/** Moves a project's label into the project's group, together with the labels of the same title below the group. */
import { sql } from 'kysely';
import { type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { LabelRow } from './label_row.ts';
import {
  type Owner,
  lockTitles,
  ownerTurn,
  renewLists,
  selectProjectsBelow,
} from '../project_or_group/owner.ts';
import { type LabelKey, findLabel, labelsTitled } from './queries.ts';
import { titleTaken } from './rules.ts';

const findSameTitle = async (tx: Tx, group: Owner, label: LabelRow): Promise<number[]> => {
  const rows = await tx.db
    .selectFrom('labels')
    .select('id')
    .where('title', '=', label.title)
    .where('id', '<>', label.id)
    .where('project_id', 'in', selectProjectsBelow(group))
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
};

/** Gives the lists and filters of boards to one label. */
const moveBoardLists = async (tx: Tx, labelId: number, others: number[]): Promise<void> => {
  for (const table of ['board_lists', 'board_labels'] as const) {
    const own = sql`select board_id from ${sql.table(table)} where label_id = ${labelId}`;
    await sql`update ${sql.table(table)} set label_id = ${labelId}
      where ${tx.dialect.oneOf('label_id', others)} and board_id not in (${own})`.execute(tx.db);
  }
};

/** Gives the links, subscriptions and events of other labels to one label, and deletes the others. */
const mergeInto = async (tx: Tx, labelId: number, others: number[]): Promise<void> => {
  const isOther = (column: string) => tx.dialect.oneOf(column, others);
  await sql`insert into label_links (target_type, target_id, label_id, target_created_at)
    select target_type, target_id, ${labelId}, target_created_at from label_links where ${isOther('label_id')}
    on conflict do nothing`.execute(tx.db);
  await sql`delete from label_links where ${isOther('label_id')}`.execute(tx.db);
  const ofOthers = sql`target_type = 'Label' and ${isOther('target_id')}`;
  await sql`insert into subscriptions (user_id, target_type, target_id, subscribed, created_at, updated_at)
    select user_id, target_type, ${labelId}, subscribed, created_at, updated_at from subscriptions
    where ${ofOthers} on conflict do nothing`.execute(tx.db);
  await sql`delete from subscriptions where ${ofOthers}`.execute(tx.db);
  await moveBoardLists(tx, labelId, others);
  await sql`update resource_events set label_id = ${labelId} where ${isOther('label_id')}`.execute(tx.db);
  await sql`delete from labels where ${isOther('id')}`.execute(tx.db);
};

/**
 * Promotes a project's label: it becomes a label of the group, keeps its id, and replaces the labels of the same title
 * in all projects below the group.
 * @throws Failure 404 `404 Label Not Found`, 400 if the group or one above has a label of this title
 */
export const promoteLabel = async (
  call: Call,
  { project, group }: { project: Owner; group: Owner },
  key: LabelKey,
): Promise<LabelRow> =>
  await call.write(async (tx) => {
    await lockTitles(tx, group);
    const label = await findLabel(tx.db, project, key, 'own');
    if ((await labelsTitled(tx.db, group, label.title)).length > 0) throw titleTaken();
    const others = await findSameTitle(tx, group, label);
    if (others.length > 0) await mergeInto(tx, label.id, others);
    const moved = { project_id: null, group_id: group.id, priority: null, updated_at: tx.now };
    await tx.db.updateTable('labels').set(moved).where('id', '=', label.id).execute();
    await recordEvent(tx, requireActor(call), {
      kind: 'label.updated',
      project_id: label.project_id,
      target_type: 'Label',
      target_id: label.id,
      data: { title: label.title, group_id: [null, group.id] },
    });
    await renewLists(tx, group);
    return { ...label, ...moved };
  }, ownerTurn(group));
