/**
 * Topics as the viewer sees them. A topic is hidden if all of its projects are hidden from the viewer, because its name
 * could reveal them. Topics that an administrator described are public. Counts only projects that the viewer sees.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { levels } from '../../core/access/levels.ts';
import type { Viewer } from '../../core/access/viewer.ts';
import { isOpenTo, projectsAtLeast } from '../../core/access/visible.ts';
import type { SqlDialect } from '../../platform/db/engine.ts';
import { notFound } from '../../platform/errors.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import { containsText } from '../../platform/db/contains_text.ts';
import { foldTopicName } from '../projects/topics.ts';

/** Over `topics`: number of projects with the topic that viewers of this kind can see. Each sum has an index. */
const openCount = (viewer: Viewer): RawBuilder<number> => {
  if (viewer.admin) return sql`(public_projects_count + internal_projects_count + private_projects_count)`;
  return isOpenTo(viewer, 'internal')
    ? sql`(public_projects_count + internal_projects_count)`
    : sql`public_projects_count`;
};

/** Projects with a topic that the viewer sees only as a member; null if there are none. */
const memberProjects = (viewer: Viewer, dialect: SqlDialect): RawBuilder<unknown> | null => {
  if (viewer.admin || viewer.user_id === null) return null;
  const hidden = isOpenTo(viewer, 'internal') ? ['private'] : ['private', 'internal'];
  return sql`from project_topics join projects on projects.id = project_topics.project_id
    where projects.deleted_at is null and projects.visibility in (${sql.join(hidden)})
    and ${projectsAtLeast(viewer, levels.guest, dialect)}`;
};

type Context = Pick<Call, 'db' | 'viewer' | 'platform'>;

/** Selects visible topics with the number of their projects. */
const visibleTopics = ({ db, viewer, platform }: Context) => {
  const members = memberProjects(viewer, platform.store.dialect);
  const open = openCount(viewer);
  const own = members === null ? sql`0` : sql`(select count(*) ${members} and topic_id = topics.id)`;
  const isUsed =
    members === null
      ? sql<boolean>`${open} > 0`
      : sql<boolean>`(${open} > 0 or topics.id in (select topic_id ${members}))`;
  const query = db
    .selectFrom('topics')
    .where(viewer.admin ? sql<boolean>`1 = 1` : sql<boolean>`(is_described = 1 or ${isUsed})`);
  const rows = query.selectAll('topics').select(sql<number>`${open} + ${own}`.as('total_projects_count'));
  return { query, rows, isUsed, open };
};

export type TopicRow = Awaited<ReturnType<ReturnType<typeof visibleTopics>['rows']['execute']>>[number];

export type TopicFilters = { search?: string | undefined; without_projects?: boolean | undefined };

/** Lists topics, most projects first. */
export const listTopics = async (
  call: Context,
  { search = '', without_projects = false }: TopicFilters,
  { limit, offset }: Pick<PageRequest, 'limit' | 'offset'>,
): Promise<Page<TopicRow>> => {
  const { query, rows, isUsed, open } = visibleTopics(call);
  const conditions = [
    ...(search === '' ? [] : [containsText('topics.name', search)]),
    ...(without_projects ? [sql<boolean>`not ${isUsed}`] : []),
  ];
  const where = sql<boolean>`${sql.join([sql`1 = 1`, ...conditions], sql` and `)}`;
  const [items, { total }] = await Promise.all([
    rows
      .where(where)
      .orderBy(sql`${open} desc`)
      .orderBy('topics.id')
      .limit(limit)
      .offset(offset)
      .execute(),
    query
      .where(where)
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow(),
  ]);
  return { items, total };
};

/** Loads a visible topic. @throws Failure 404, also for a hidden one */
export const findTopic = async (call: Context, id: number): Promise<TopicRow> => {
  const row = await visibleTopics(call).rows.where('topics.id', '=', id).executeTakeFirst();
  if (row === undefined) throw notFound('Topic');
  return row;
};

/** Like `findTopic`, by name, case-insensitive. */
export const findTopicByName = async (call: Context, name: string): Promise<TopicRow> => {
  const row = await visibleTopics(call)
    .rows.where('topics.folded_name', '=', foldTopicName(name))
    .executeTakeFirst();
  if (row === undefined) throw notFound('Topic');
  return row;
};
