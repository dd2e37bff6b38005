import { type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { requireUnmodified } from '../../platform/http/precondition.ts';
import { type Owner, renewLists } from '../project_or_group/owner.ts';
import { type LabelKey, findLabel } from './queries.ts';

/**
 * Deletes a label of the owner, and its links.
 * @throws Failure 404 `404 Label Not Found`, 412 if it changed since `If-Unmodified-Since`
 */
export const deleteLabel = async (call: Call, owner: Owner, key: LabelKey): Promise<void> => {
  await call.write(async (tx) => {
    const label = await findLabel(tx.db, owner, key, 'own');
    requireUnmodified(call.header('if-unmodified-since'), label.updated_at);
    const { db } = tx;
    await db
      .deleteFrom('subscriptions')
      .where('target_type', '=', 'Label')
      .where('target_id', '=', label.id)
      .execute();
    // Locks the linked records before the label, as every edit does.
    await db.deleteFrom('label_links').where('label_id', '=', label.id).execute();
    await db.deleteFrom('labels').where('id', '=', label.id).execute();
    await recordEvent(tx, requireActor(call), {
      kind: 'label.deleted',
      project_id: label.project_id,
      target_type: 'Label',
      target_id: label.id,
      data: { title: label.title, ...(label.group_id !== null && { group_id: label.group_id }) },
    });
    await renewLists(tx, owner);
  });
};
