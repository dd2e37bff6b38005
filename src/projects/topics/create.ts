import type { Call } from '../../core/access/call.ts';
import { foldTopicName } from '../projects/topics.ts';
import { type TopicColumns, nameTaken, recordTopicEvent, requireTopicNames } from './topic_changes.ts';

/** Creates a topic. @throws Failure 400 for a name that is taken, ignoring case */
export const createTopic = async (call: Call, columns: TopicColumns & { name: string }): Promise<number> => {
  requireTopicNames(columns);
  const { name, title = name, description = null, avatar = null } = columns;
  return await call.write(async (tx) => {
    const times = { created_at: tx.now, updated_at: tx.now };
    const row = await tx.db
      .insertInto('topics')
      .values({
        name,
        folded_name: foldTopicName(name),
        title,
        description,
        avatar,
        is_described: 1,
        ...times,
      })
      .onConflict((clash) => clash.doNothing())
      .returning('id')
      .executeTakeFirst();
    if (row === undefined) throw nameTaken();
    await recordTopicEvent(call, tx, { verb: 'created', id: row.id, data: { name } });
    return row.id;
  });
};
