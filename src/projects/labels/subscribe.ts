import { type Call, requireUser } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { notModified } from '../../platform/errors.ts';
import type { Owner } from '../project_or_group/owner.ts';
import { type LabelKey, findLabel } from './queries.ts';
import type { LabelRow } from './label_row.ts';

type Row = { user_id: number } | undefined;

const subscribe = async (tx: Tx, userId: number, labelId: number): Promise<Row> =>
  await tx.db
    .insertInto('subscriptions')
    .values({
      user_id: userId,
      target_type: 'Label',
      target_id: labelId,
      subscribed: 1,
      created_at: tx.now,
      updated_at: tx.now,
    })
    .onConflict((clash) =>
      clash
        .columns(['target_type', 'target_id', 'user_id'])
        .doUpdateSet({ subscribed: 1, updated_at: tx.now })
        .where('subscriptions.subscribed', '=', 0),
    )
    .returning('user_id')
    .executeTakeFirst();

const unsubscribe = async (tx: Tx, userId: number, labelId: number): Promise<Row> =>
  await tx.db
    .updateTable('subscriptions')
    .set({ subscribed: 0, updated_at: tx.now })
    .where('user_id', '=', userId)
    .where('target_type', '=', 'Label')
    .where('target_id', '=', labelId)
    .where('subscribed', '=', 1)
    .returning('user_id')
    .executeTakeFirst();

/** Subscribes or unsubscribes the caller. @throws Failure 404 `404 Label Not Found`, 304 if nothing changes */
export const setLabelSubscribed = async (
  call: Call,
  owner: Owner,
  key: LabelKey,
  isSubscribed: boolean,
): Promise<LabelRow> => {
  const { id: userId } = requireUser(call);
  return await call.write(async (tx) => {
    const label = await findLabel(tx.db, owner, key, 'available');
    const row = await (isSubscribed ? subscribe : unsubscribe)(tx, userId, label.id);
    if (row === undefined) throw notModified();
    return label;
  });
};
