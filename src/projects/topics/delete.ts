import type { Call } from '../../core/access/call.ts';
import { deleteTopicRow, lockTopics, recordTopicEvent } from './topic_changes.ts';

/** Deletes a topic; its projects lose it. */
export const deleteTopic = async (call: Call, id: number): Promise<void> =>
  await call.write(async (tx) => {
    const [topic] = await lockTopics(tx, [id]);
    if (topic === undefined) return;
    await deleteTopicRow(tx, topic);
    await recordTopicEvent(call, tx, { verb: 'deleted', id, data: { name: topic.name } });
  });
