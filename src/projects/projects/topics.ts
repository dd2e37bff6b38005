/** Topics of projects: short labels, compared without case, stored in the order of the input. */
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
  topics: optional(names({ maxItems: maxTopics, description: 'replaces all topics' })),
  tag_list: optional(names({ maxItems: maxTopics, description: 'another name of `topics`' })),
};

export const topicFields = { tag_list: array(string), topics: array(string), readme_url: nullable(string) };

const fold = (name: string): string => name.toLowerCase();

const isInvalid = (name: string): boolean => name.length > maxNameLength || /\p{Cc}/u.test(name);

/**
 * Returns the topics that the parameters set, without duplicates.
 * @throws Failure 400
 */
export const readTopics = (params: {
  topics?: string[] | undefined;
  tag_list?: string[] | undefined;
}): string[] | undefined => {
  const names = params.topics ?? params.tag_list;
  if (names?.some(isInvalid) === true) throw invalid({ topics: ['is invalid'] });
  return names && [...Map.groupBy(names, fold).values()].flatMap(([first]) => first ?? []);
};

/** Over `projects`: the topics as one text. */
export const topicsText = sql<string | null>`(select string_agg(name, ${separator} order by position)
  from project_topics where project_topics.project_id = projects.id)`;

/** @param text as `topicsText` selects it */
export const splitTopics = (text: string | null): string[] => (text === null ? [] : text.split(separator));

export const loadTopics = async (db: Reader, projectId: number): Promise<string[]> => {
  const rows = await db
    .selectFrom('project_topics')
    .select('name')
    .where('project_id', '=', projectId)
    .orderBy('position')
    .execute();
  return rows.map(({ name }) => name);
};

export const replaceTopics = async (tx: Tx, project_id: number, topics: readonly string[]): Promise<void> => {
  await tx.db.deleteFrom('project_topics').where('project_id', '=', project_id).execute();
  const rows = topics.map((name, position) => ({ project_id, position, name, folded_name: fold(name) }));
  if (rows.length > 0) await insertRows(tx.db, 'project_topics', rows);
};

/** Over `projects`: projects with this topic, in any case. */
export const hasTopic = (name: string): RawBuilder<boolean> => sql<boolean>`projects.id in (
  select project_topics.project_id from project_topics where folded_name = ${fold(name)})`;
