/** Operations on links between issues: related issues, and issues that block others. */
import { type RawBuilder, sql } from 'kysely';
import { type Call, requireActor } from '../../../core/access/call.ts';
import { may } from '../../../core/access/may.ts';
import { visibleIssues } from '../../../core/access/visible.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import { conflict, forbidden, notFound, refused } from '../../../platform/errors.ts';
import { insertRow } from '../../../platform/db/insert.ts';
import { type Page, type PageRequest, withTotal } from '../../../platform/http/page.ts';
import { projectsById } from '../../../projects/projects/find.ts';
import type { LoadedIssue } from '../find.ts';
import { type Link, type LinkType, typeFrom } from './link_types.ts';
import { lockEnds, recordLinkChange } from './record_links.ts';

/** The links of an issue whose other issue the caller sees. */
const selectLinks = ({ viewer, platform }: Call, issueId: number): RawBuilder<unknown> =>
  sql`from issue_links
    join issues on issues.id = case when issue_links.source_id = ${issueId}
      then issue_links.target_id else issue_links.source_id end
    join projects on projects.id = issues.project_id
    where (issue_links.source_id = ${issueId} or issue_links.target_id = ${issueId})
      and ${visibleIssues(viewer, platform.store.dialect)}`;

/** Lists the links of an issue whose other issue the caller sees, the earliest first. */
export const listLinks = async (call: Call, issueId: number, page: PageRequest): Promise<Page<Link>> => {
  const links = selectLinks(call, issueId);
  const { rows } = await sql<Link>`select issue_links.* ${links}
    order by issue_links.id limit ${page.limit} offset ${page.offset}`.execute(call.db);
  return await withTotal(page, rows, async () => {
    const counted = await sql<{ total: number }>`select count(*) as total ${links}`.execute(call.db);
    return counted.rows[0] ?? { total: 0 };
  });
};

/** A linked issue, as the page of an issue shows it. */
export type LinkedIssue = {
  link_id: number;
  link_type: LinkType;
  iid: number;
  title: string;
  state: 'opened' | 'closed';
  project: { id: number; full_path: string };
};

const anyLink = compiled((db, { id }: { id: number }) =>
  sql`select 1 as found from issue_links where source_id = ${id} or target_id = ${id} limit 1`.compile(db),
);

/** Returns the linked issues that the caller sees, the earliest link first, at most `limit`. */
export const listLinkedIssues = async (
  call: Call,
  issueId: number,
  limit: number,
): Promise<LinkedIssue[]> => {
  // Most issues have none, and what the caller sees takes longer to ask for.
  if ((await anyLink(call.db, { id: issueId })).length === 0) return [];
  type Row = Link & Pick<LinkedIssue, 'iid' | 'title' | 'state'> & { project_id: number };
  const { rows } =
    await sql<Row>`select issue_links.*, issues.iid, issues.title, issues.state, issues.project_id
    ${selectLinks(call, issueId)} order by issue_links.id limit ${limit}`.execute(call.db);
  if (rows.length === 0) return [];
  const projects = await projectsById(call.db, [...new Set(rows.map(({ project_id }) => project_id))]);
  return rows.flatMap((row) => {
    const project = projects.get(row.project_id);
    if (project === undefined) return [];
    const { id: link_id, iid, title, state } = row;
    return [{ link_id, link_type: typeFrom(row, issueId), iid, title, state, project }];
  });
};

/** Finds a link of an issue. @throws Failure 404 if the caller does not see the other issue */
export const findLink = async (call: Call, issueId: number, linkId: number): Promise<Link> => {
  const { rows } = await sql<Link>`select issue_links.* ${selectLinks(call, issueId)}
    and issue_links.id = ${linkId}`.execute(call.db);
  const [link] = rows;
  if (link === undefined) throw notFound();
  return link;
};

/** Returns whether the caller may link an issue with others. */
export const mayLink = ({ viewer }: Call, { project }: LoadedIssue): boolean =>
  may(viewer, 'admin_issue', project);

/** Stores a link. @throws Failure 409 if the issues are linked already, in either direction */
const insertLink = async (
  call: Call,
  link: Pick<Link, 'source_id' | 'target_id' | 'link_type'>,
): Promise<number> =>
  await call.write(async (tx) => {
    const pair = [link.source_id, link.target_id];
    await lockEnds(tx, link);
    const existing = await tx.db
      .selectFrom('issue_links')
      .select('id')
      .where('source_id', 'in', pair)
      .where('target_id', 'in', pair)
      .executeTakeFirst();
    if (existing !== undefined) throw conflict('Issue(s) already assigned');
    const times = { created_at: tx.now, updated_at: tx.now };
    const id = await insertRow(tx.db, 'issue_links', { ...link, ...times });
    await recordLinkChange(tx, requireActor(call), 'linked', link);
    return id;
  });

/**
 * Links two issues. Returns the id of the link.
 * @throws Failure 403 without the right in both projects, 400 for an issue with itself, 409 if they are linked already
 */
export const createLink = async (
  call: Call,
  loaded: LoadedIssue,
  other: LoadedIssue,
  type: LinkType,
): Promise<number> => {
  if (!mayLink(call, loaded) || !mayLink(call, other)) throw forbidden();
  const [here, there] = [loaded.target.id, other.target.id];
  if (here === there) throw refused('An issue cannot be linked with itself');
  const [source_id, target_id] = type === 'is_blocked_by' ? [there, here] : [here, there];
  const link_type = type === 'relates_to' ? 'relates_to' : 'blocks';
  return await insertLink(call, { source_id, target_id, link_type });
};

/** Removes a link that `findLink` found. @throws Failure 403 */
export const removeLink = async (call: Call, loaded: LoadedIssue, link: Link): Promise<void> => {
  if (!mayLink(call, loaded)) throw forbidden();
  await call.write(async (tx) => {
    await lockEnds(tx, link);
    const removed = await tx.db
      .deleteFrom('issue_links')
      .where('id', '=', link.id)
      .returning('id')
      .executeTakeFirst();
    if (removed !== undefined) await recordLinkChange(tx, requireActor(call), 'unlinked', link);
  });
};
