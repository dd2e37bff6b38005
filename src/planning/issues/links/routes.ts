/** Links between issues: related ones, and those that block others. */
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { may } from '../../../core/access/may.ts';
import { visibleIssues } from '../../../core/access/visible.ts';
import { insertRow } from '../../../platform/db/insert.ts';
import type { IssueLinksTable } from '../../../platform/db/schema/planning.ts';
import { conflict, forbidden, notFound, refused } from '../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import {
  id,
  idOrPath,
  int,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '../../../platform/http/schema.ts';
import { formatTime } from '../../../platform/time.ts';
import { projectsById } from '../../../projects/projects/find.ts';
import { type LoadedIssue, findIssue } from '../find.ts';
import { issueJson, issueShape } from '../json.ts';
import { type FullIssue, issuesById } from '../rows.ts';
import { limitToViewer } from '../viewer_fields.ts';

const path = '/projects/:id/issues/:issue_iid/links';
const linkTypes = ['relates_to', 'blocks', 'is_blocked_by'] as const;
type LinkType = (typeof linkTypes)[number];

const linkedShape = object({
  ...issueShape.properties,
  issue_link_id: int,
  link_type: string,
  link_created_at: timestamp,
  link_updated_at: timestamp,
});

const linkShape = object({ id: int, source_issue: issueShape, target_issue: issueShape, link_type: string });

const params = { id: idOrPath('project'), issue_iid: id('iid of the issue') };
const area = 'issues';

type Link = Selectable<IssueLinksTable>;

/** The links of an issue whose other issue the caller sees. */
const selectLinks = ({ viewer, platform }: Call, issueId: number): RawBuilder<unknown> =>
  sql`from issue_links
    join issues on issues.id = case when issue_links.source_id = ${issueId}
      then issue_links.target_id else issue_links.source_id end
    join projects on projects.id = issues.project_id
    where (issue_links.source_id = ${issueId} or issue_links.target_id = ${issueId})
      and ${visibleIssues(viewer, platform.store.dialect)}`;

/** The type of a link, seen from this issue. */
const typeFrom = ({ source_id, link_type }: Link, issueId: number): LinkType =>
  link_type === 'blocks' && source_id !== issueId ? 'is_blocked_by' : link_type;

/** Renders issues as lists show them, by id. */
const issueJsonById = async (call: Call, ids: readonly number[]) => {
  const issues = await issuesById(call.db, ids);
  const projects = await projectsById(call.db, [...new Set(issues.map(({ project_id }) => project_id))]);
  const toJson = (issue: FullIssue) => {
    const project = projects.get(issue.project_id);
    const seen = project === undefined ? issue : limitToViewer(call.viewer, project, issue);
    return issueJson(seen, call);
  };
  return new Map(issues.map((issue) => [issue.id, toJson(issue)]));
};

const list = endpoint({
  method: 'GET',
  path,
  summary: 'Issues that are linked with an issue, the earliest link first',
  area,
  audience: 'user',
  list: true,
  params: object({ ...params, ...pageParams }),
  reply: linkedShape,
  handle: async (call, input) => {
    const { target } = await findIssue(call, input.id, input.issue_iid);
    const { limit, offset } = pageRequest(input);
    const links = selectLinks(call, target.id);
    const [{ rows }, counted] = await Promise.all([
      sql<Link>`select issue_links.* ${links}
        order by issue_links.id limit ${limit} offset ${offset}`.execute(call.db),
      sql<{ total: number }>`select count(*) as total ${links}`.execute(call.db),
    ]);
    const otherId = (link: Link): number => (link.source_id === target.id ? link.target_id : link.source_id);
    const issues = await issueJsonById(call, rows.map(otherId));
    const items = rows.flatMap((link) => {
      const issue = issues.get(otherId(link));
      if (issue === undefined) return [];
      return {
        ...issue,
        issue_link_id: link.id,
        link_type: typeFrom(link, target.id),
        link_created_at: formatTime(link.created_at),
        link_updated_at: formatTime(link.updated_at),
      };
    });
    return { items, total: counted.rows[0]?.total ?? 0 };
  },
});

const linkJson = async (call: Call, link: Link, issueId: number) => {
  const otherId = link.source_id === issueId ? link.target_id : link.source_id;
  const issues = await issueJsonById(call, [issueId, otherId]);
  return {
    id: link.id,
    source_issue: issues.get(issueId),
    target_issue: issues.get(otherId),
    link_type: typeFrom(link, issueId),
  };
};

const findLink = async (call: Call, issueId: number, linkId: number): Promise<Link> => {
  const { rows } = await sql<Link>`select issue_links.* ${selectLinks(call, issueId)}
    and issue_links.id = ${linkId}`.execute(call.db);
  const [link] = rows;
  if (link === undefined) throw notFound();
  return link;
};

const mayLink = ({ viewer }: Call, { project }: LoadedIssue): boolean => may(viewer, 'admin_issue', project);

const one = endpoint({
  method: 'GET',
  path: `${path}/:issue_link_id`,
  summary: 'One link of an issue',
  area,
  audience: 'user',
  params: object({ ...params, issue_link_id: id('id of the link') }),
  reply: linkShape,
  handle: async (call, input) => {
    const { target } = await findIssue(call, input.id, input.issue_iid);
    return await linkJson(call, await findLink(call, target.id, input.issue_link_id), target.id);
  },
});

/** Stores a link. @throws Failure 409 if the issues are linked already, in either direction */
const insertLink = async (
  call: Call,
  link: Pick<Link, 'source_id' | 'target_id' | 'link_type'>,
): Promise<number> =>
  await call.write(async (tx) => {
    const pair = [link.source_id, link.target_id];
    await sql`select id from issues where id in (${sql.join(pair)}) order by id ${tx.dialect.forUpdate}`.execute(
      tx.db,
    );
    const existing = await tx.db
      .selectFrom('issue_links')
      .select('id')
      .where('source_id', 'in', pair)
      .where('target_id', 'in', pair)
      .executeTakeFirst();
    if (existing !== undefined) throw conflict('Issue(s) already assigned');
    return await insertRow(tx.db, 'issue_links', { ...link, created_at: tx.now, updated_at: tx.now });
  });

const create = endpoint({
  method: 'POST',
  path,
  summary: 'Link two issues (reporters of both projects)',
  area,
  audience: 'user',
  params: object({
    ...params,
    target_project_id: idOrPath('project of the other issue'),
    target_issue_iid: id('iid of the other issue'),
    link_type: oneOf(linkTypes, { default: 'relates_to' }),
  }),
  reply: linkShape,
  handle: async (call, input) => {
    const loaded = await findIssue(call, input.id, input.issue_iid);
    if (!mayLink(call, loaded)) throw forbidden();
    const other = await findIssue(call, input.target_project_id, input.target_issue_iid);
    if (!mayLink(call, other)) throw forbidden();
    const [here, there] = [loaded.target.id, other.target.id];
    if (here === there) throw refused('An issue cannot be linked with itself');
    const isBlocked = input.link_type === 'is_blocked_by';
    const [source_id, target_id] = isBlocked ? [there, here] : [here, there];
    const link_type = input.link_type === 'relates_to' ? 'relates_to' : 'blocks';
    const linkId = await insertLink(call, { source_id, target_id, link_type });
    return await linkJson(call, await findLink(call, here, linkId), here);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:issue_link_id`,
  summary: 'Remove the link of two issues (reporters)',
  status: 200,
  area,
  audience: 'user',
  params: object({
    ...params,
    issue_link_id: id('id of the link'),
    link_type: optional(oneOf(linkTypes, { description: 'accepted: the link is named by its id' })),
  }),
  reply: linkShape,
  handle: async (call, input) => {
    const loaded = await findIssue(call, input.id, input.issue_iid);
    const link = await findLink(call, loaded.target.id, input.issue_link_id);
    if (!mayLink(call, loaded)) throw forbidden();
    const json = await linkJson(call, link, loaded.target.id);
    await call.write(
      async ({ db }) => await db.deleteFrom('issue_links').where('id', '=', link.id).execute(),
    );
    return json;
  },
});

export const issueLinkRoutes = [list, one, create, remove];
