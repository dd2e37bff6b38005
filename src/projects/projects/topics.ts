/** Topics of projects: records of the instance, found by name without case, in the order of the input. */
import { type RawBuilder, sql } from 'kysely';
import { insertRows } from '../../platform/db/insert.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import { invalid } from '../../platform/errors.ts';
import { array, names, nullable, optional, string } from '../../platform/http/schema.ts';

const maxNameLength = 255;
const maxTopics = 100;
/** Separator that no topic contains. */
const separator = '\n';

export const topicParams = {
  topics: optional(names({ maxItems: maxTopics, description: 'topics; replaces all current topics' })),
  tag_list: optional(names({ maxItems: maxTopics, description: 'another name of `topics`' })),
};

export const topicFields = { tag_list: array(string), topics: array(string), readme_url: nullable(string) };

/** Returns a name in the form by which topics are compared. */
export const foldTopicName = (name: string): string => name.toLowerCase();

export const isInvalidTopicName = (name: string): boolean =>
  name.length > maxNameLength || /\p{Cc}/u.test(name);

/**
 * Returns the topics that the parameters set, without duplicates.
 * @throws Failure 400
 */
export const readTopics = (params: {
  topics?: string[] | undefined;
  tag_list?: string[] | undefined;
}): string[] | undefined => {
  const texts = params.topics ?? params.tag_list;
  if (texts?.some(isInvalidTopicName) === true) throw invalid({ topics: ['is invalid'] });
  return texts && [...Map.groupBy(texts, foldTopicName).values()].flatMap(([first]) => first ?? []);
};

/** Over `projects`: the topics as one text. */
export const topicsText = sql<string | null>`(select string_agg(topics.name, ${separator} order by position)
  from project_topics join topics on topics.id = topic_id where project_topics.project_id = projects.id)`;

/** @param text as `topicsText` selects it */
export const splitTopics = (text: string | null): string[] => (text === null ? [] : text.split(separator));

export const loadTopics = async (db: Reader, projectId: number): Promise<string[]> => {
  const rows = await db
    .selectFrom('project_topics')
    .innerJoin('topics', 'topics.id', 'project_topics.topic_id')
    .select('topics.name')
    .where('project_id', '=', projectId)
    .orderBy('position')
    .execute();
  return rows.map(({ name }) => name);
};

/** Returns the ids of topics by folded name. Adds missing topics; locks all, so that no topic is deleted. */
const claimTopics = async ({ db, now }: Tx, topics: readonly string[]): Promise<Map<string, number>> => {
  const rows = topics
    .map((name) => ({
      name,
      folded_name: foldTopicName(name),
      title: name,
      created_at: now,
      updated_at: now,
    }))
    // One order in all transactions.
    .toSorted((a, b) => (a.folded_name < b.folded_name ? -1 : 1));
  const claimed = await db
    .insertInto('topics')
    .values(rows)
    .onConflict((clash) =>
      clash.column('folded_name').doUpdateSet((is) => ({ folded_name: is.ref('excluded.folded_name') })),
    )
    .returning(['id', 'folded_name'])
    .execute();
  return new Map(claimed.map(({ id, folded_name }) => [folded_name, id]));
};

/** Deletes these topics, except topics that a project has or that an administrator described. */
const deleteUnusedTopics = async ({ db, dialect }: Tx, ids: readonly number[]): Promise<void> => {
  await db
    .deleteFrom('topics')
    .where(dialect.oneOf('topics.id', ids))
    .where('is_described', '=', 0)
    .where(sql<boolean>`not exists (select 1 from project_topics where topic_id = topics.id)`)
    .execute();
};

export const replaceTopics = async (tx: Tx, project_id: number, topics: readonly string[]): Promise<void> => {
  const ids = topics.length === 0 ? new Map<string, number>() : await claimTopics(tx, topics);
  const before = await tx.db
    .deleteFrom('project_topics')
    .where('project_id', '=', project_id)
    .returning('topic_id')
    .execute();
  const rows = topics.flatMap((name, position) => {
    const topic_id = ids.get(foldTopicName(name));
    return topic_id === undefined ? [] : [{ project_id, position, topic_id }];
  });
  if (rows.length > 0) await insertRows(tx.db, 'project_topics', rows);
  const kept = new Set(ids.values());
  const unused = before.map(({ topic_id }) => topic_id).filter((id) => !kept.has(id));
  if (unused.length > 0) await deleteUnusedTopics(tx, unused);
};

/** Over `projects`: projects with this topic, in any case. */
export const hasTopic = (name: string): RawBuilder<boolean> => sql<boolean>`projects.id in (
  select project_topics.project_id from project_topics
  join topics on topics.id = topic_id where folded_name = ${foldTopicName(name)})`;

/** Over `projects`: projects with the topic of this id. */
export const hasTopicId = (id: number): RawBuilder<boolean> => sql<boolean>`projects.id in (
  select project_topics.project_id from project_topics where topic_id = ${id})`;
