/** Administrators create, change, delete and merge topics. */
import { type Selectable, sql } from 'kysely';
import { type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { enqueueAvatarRemoval, hideAvatar } from '../../identity/avatars/store_avatar.ts';
import { compareColumns } from '../../identity/namespaces/changed_columns.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { TopicsTable } from '../../platform/db/schema/projects.ts';
import { type Problems, invalid, notFound, refused } from '../../platform/errors.ts';
import { foldTopicName, isInvalidTopicName } from '../projects/topics.ts';

type TopicColumns = {
  name?: string;
  title?: string;
  description?: string | null;
  avatar?: string | null;
};

type StoredTopic = Selectable<TopicsTable>;

const taken = (): Error => invalid({ name: ['has already been taken'] });

/** @throws Failure 400 */
const checkNames = (columns: TopicColumns): void => {
  const problems: Problems = {};
  for (const key of ['name', 'title'] as const) {
    const value = columns[key];
    if (value === undefined) continue;
    if (value.trim() === '') problems[key] = ["can't be blank"];
    else if (isInvalidTopicName(value)) problems[key] = ['is invalid'];
  }
  // A list of topics separates them by commas.
  if (columns.name?.includes(',') === true) problems['name'] = ['is invalid'];
  if (Object.keys(problems).length > 0) throw invalid(problems);
};

/** Locks topics in one order. @throws Failure 404 */
const lockTopics = async ({ db, dialect }: Tx, ids: readonly number[]): Promise<StoredTopic[]> => {
  const rows = await db
    .selectFrom('topics')
    .selectAll()
    .where(dialect.oneOf('topics.id', ids))
    .orderBy('id')
    .modifyEnd(dialect.forUpdate)
    .execute();
  return ids.map((id) => {
    const row = rows.find((one) => one.id === id);
    if (row === undefined) throw notFound('Topic');
    return row;
  });
};

const record = async (
  call: Call,
  tx: Tx,
  { verb, id, data }: { verb: 'created' | 'updated' | 'deleted' | 'merged'; id: number; data: object },
): Promise<void> =>
  await recordEvent(tx, requireActor(call), {
    kind: `topic.${verb}`,
    project_id: null,
    target_type: 'Topic',
    target_id: id,
    data,
  });

/** Creates a topic. @throws Failure 400 for a name that another has, in any case */
export const createTopic = async (call: Call, columns: TopicColumns & { name: string }): Promise<number> => {
  checkNames(columns);
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
    if (row === undefined) throw taken();
    await record(call, tx, { verb: 'created', id: row.id, data: { name } });
    return row.id;
  });
};

/** Changes a topic; its projects show the new name. @throws Failure 400 for a name that another has */
export const updateTopic = async (call: Call, id: number, requested: TopicColumns): Promise<void> => {
  checkNames(requested);
  await call.write(async (tx) => {
    const [topic] = await lockTopics(tx, [id]);
    if (topic === undefined) return;
    const { changes, data } = compareColumns(topic, requested);
    const folded_name = foldTopicName(changes.name ?? topic.name);
    const other = await tx.db
      .selectFrom('topics')
      .select('id')
      .where('folded_name', '=', folded_name)
      .where('id', '<>', id)
      .executeTakeFirst();
    if (other !== undefined) throw taken();
    await tx.db
      .updateTable('topics')
      .set({ ...changes, folded_name, is_described: 1, updated_at: tx.now })
      .where('id', '=', id)
      .execute();
    if (changes.avatar !== undefined) await enqueueAvatarRemoval(tx, topic.avatar);
    if (Object.keys(data).length > 0) await record(call, tx, { verb: 'updated', id, data: hideAvatar(data) });
  });
};

const deleteRow = async (tx: Tx, { id, avatar }: StoredTopic): Promise<void> => {
  await tx.db.deleteFrom('topics').where('id', '=', id).execute();
  await enqueueAvatarRemoval(tx, avatar);
};

/** Deletes a topic; its projects lose it. */
export const deleteTopic = async (call: Call, id: number): Promise<void> =>
  await call.write(async (tx) => {
    const [topic] = await lockTopics(tx, [id]);
    if (topic === undefined) return;
    await deleteRow(tx, topic);
    await record(call, tx, { verb: 'deleted', id, data: { name: topic.name } });
  });

/** Gives the projects of one topic another, and deletes the first. @throws Failure 400 for the same topic twice */
export const mergeTopics = async (call: Call, sourceId: number, targetId: number): Promise<void> => {
  if (sourceId === targetId) throw refused('The source topic and the target topic are identical.');
  await call.write(async (tx) => {
    const [source, target] = await lockTopics(tx, [sourceId, targetId]);
    if (source === undefined || target === undefined) return;
    await sql`update project_topics set topic_id = ${targetId} where topic_id = ${sourceId}
      and project_id not in (select project_id from project_topics where topic_id = ${targetId})`.execute(
      tx.db,
    );
    await deleteRow(tx, source);
    const data = { source_id: sourceId, source_name: source.name };
    await record(call, tx, { verb: 'merged', id: targetId, data });
  });
};
