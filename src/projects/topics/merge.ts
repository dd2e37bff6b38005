import { sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { refused } from '../../platform/errors.ts';
import { deleteTopicRow, lockTopics, recordTopicEvent } from './topic_changes.ts';

/**
 * Moves all projects from the source topic to the target topic and deletes the source.
 * @throws Failure 400 for the same topic twice
 */
export const mergeTopics = async (call: Call, sourceId: number, targetId: number): Promise<void> => {
  if (sourceId === targetId) throw refused('The source topic and the target topic are identical.');
  await call.write(async (tx) => {
    const [source, target] = await lockTopics(tx, [sourceId, targetId]);
    if (source === undefined || target === undefined) return;
    await sql`update project_topics set topic_id = ${targetId} where topic_id = ${sourceId}
      and project_id not in (select project_id from project_topics where topic_id = ${targetId})`.execute(
      tx.db,
    );
    await deleteTopicRow(tx, source);
    const data = { source_id: sourceId, source_name: source.name };
    await recordTopicEvent(call, tx, { verb: 'merged', id: targetId, data });
  });
};
