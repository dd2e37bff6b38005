/** Common parts of changes of topics: checks of names, locks, and events. */
import type { Selectable } from 'kysely';
import { type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { enqueueAvatarRemoval } from '../../identity/avatars/store_avatar.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { TopicsTable } from '../../platform/db/schema/projects.ts';
import { type Problems, invalid, notFound } from '../../platform/errors.ts';
import { isInvalidTopicName } from '../projects/topics.ts';

export type TopicColumns = {
  name?: string;
  title?: string;
  description?: string | null;
  avatar?: string | null;
};

type StoredTopic = Selectable<TopicsTable>;

/** The failure for a name that is taken, ignoring case. */
export const nameTaken = (): Error => invalid({ name: ['has already been taken'] });

/** Checks name and title. @throws Failure 400 */
export const requireTopicNames = (columns: TopicColumns): void => {
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

/** Locks topics, in id order to avoid deadlocks. @throws Failure 404 */
export const lockTopics = async ({ db, dialect }: Tx, ids: readonly number[]): Promise<StoredTopic[]> => {
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

export const recordTopicEvent = async (
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

export const deleteTopicRow = async (tx: Tx, { id, avatar }: StoredTopic): Promise<void> => {
  await tx.db.deleteFrom('topics').where('id', '=', id).execute();
  await enqueueAvatarRemoval(tx, avatar);
};
