/** Endpoint of the releases of all projects of a group. */
import { sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { allOf, readableCode, visibleFeature } from '../../core/access/visible.ts';
import { findGroup } from '../../identity/groups/find.ts';
import { selectDescendants } from '../../identity/namespaces/ancestors.ts';
import { type Page, type PageRequest, pageParams, pageRequest } from '../../platform/http/page.ts';
import { boolean, idOrPath, object, oneOf, optional } from '../../platform/http/schema.ts';
import { projectsById } from '../../projects/projects/find.ts';
import { openCode } from '../repository/find_code.ts';
import {
  type ReleaseJson,
  type ReleaseRow,
  groupReleaseShape,
  releasesJson,
  toBasicRelease,
} from './json.ts';

/** Lists the releases in a group and its subgroups that the caller may read, as `read_release` requires. */
const listOfGroup = async (
  { db, viewer, platform }: Call,
  groupId: number,
  sort: 'asc' | 'desc',
  { limit, offset }: PageRequest,
): Promise<Page<ReleaseRow>> => {
  const { dialect } = platform.store;
  const query = db
    .selectFrom('releases')
    .innerJoin('projects', 'projects.id', 'releases.project_id')
    .where(
      allOf([
        sql<boolean>`projects.namespace_id in ${selectDescendants(groupId)}`,
        readableCode(viewer, dialect),
        visibleFeature(viewer, 'releases_access_level', dialect),
      ]),
    );
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query
      .selectAll('releases')
      .orderBy('releases.released_at', sort)
      .orderBy('releases.id', sort)
      .limit(limit)
      .offset(offset)
      .execute(),
  ]);
  return { items, total };
};

/** Converts releases of several projects, in their order. */
const jsonOfProjects = async (call: Call, releases: ReleaseRow[]): Promise<ReleaseJson[]> => {
  const byProject = Map.groupBy(releases, ({ project_id }) => project_id);
  const projects = await projectsById(call.db, [...byProject.keys()]);
  const byId = new Map<number, ReleaseJson>();
  for (const [id, rows] of byProject) {
    const project = projects.get(id);
    if (project === undefined) continue;
    const items = await releasesJson(call, openCode(call, project), rows);
    items.forEach((item, at) => byId.set(rows[at]?.id ?? 0, item));
  }
  return releases.flatMap(({ id }) => byId.get(id) ?? []);
};

export const groupReleases = endpoint({
  method: 'GET',
  path: '/groups/:id/releases',
  summary: 'List releases of the projects of a group and its subgroups, newest first',
  area: 'releases',
  audience: 'optional',
  list: true,
  params: object({
    id: idOrPath('id or full path of the group'),
    sort: oneOf(['asc', 'desc'], { default: 'desc', description: 'order by the time of the release' }),
    simple: optional(boolean({ description: 'only the basic fields' })),
    ...pageParams,
  }),
  reply: groupReleaseShape,
  handle: async (call, { id, sort, simple, ...params }) => {
    const group = await findGroup(call, id);
    const { items, total } = await listOfGroup(call, group.id, sort, pageRequest(params));
    if (simple === true) return { items: items.map((release) => toBasicRelease(release, call)), total };
    return { items: await jsonOfProjects(call, items), total };
  },
});
