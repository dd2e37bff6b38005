import type { Call } from '../../core/access/call.ts';
import { enqueueAvatarRemoval, hideAvatar } from '../../identity/avatars/store_avatar.ts';
import { compareColumns } from '../../core/events/compare_columns.ts';
import { foldTopicName } from '../projects/topics.ts';
import {
  type TopicColumns,
  lockTopics,
  nameTaken,
  recordTopicEvent,
  requireTopicNames,
} from './topic_changes.ts';

/** Changes a topic; its projects show the new name. @throws Failure 400 for a name that is taken, ignoring case */
export const updateTopic = async (call: Call, id: number, requested: TopicColumns): Promise<void> => {
  requireTopicNames(requested);
  await call.write(async (tx) => {
    const [topic] = await lockTopics(tx, [id]);
    if (topic === undefined) return;
    const { changes, data } = compareColumns(topic, requested);
    const folded_name = foldTopicName(changes.name ?? topic.name);
    const sameName = await tx.db
      .selectFrom('topics')
      .select('id')
      .where('folded_name', '=', folded_name)
      .where('id', '<>', id)
      .executeTakeFirst();
    if (sameName !== undefined) throw nameTaken();
    await tx.db
      .updateTable('topics')
      .set({ ...changes, folded_name, is_described: 1, updated_at: tx.now })
      .where('id', '=', id)
      .execute();
    if (changes.avatar !== undefined) await enqueueAvatarRemoval(tx, topic.avatar);
    if (Object.keys(data).length > 0)
      await recordTopicEvent(call, tx, { verb: 'updated', id, data: hideAvatar(data) });
  });
};
