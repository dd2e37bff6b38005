/** Links between issues: related issues, and issues that block others. */
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { forbidden } from '../../../platform/errors.ts';
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
import { findIssue } from '../find.ts';
import { issueJson, issueShape } from '../json.ts';
import { type FullIssue, issuesById } from '../rows.ts';
import { limitToViewer } from '../viewer_fields.ts';
import { type Link, linkTypes, otherIssueId, typeFrom } from './link_types.ts';
import { createLink, findLink, listLinks, mayLink, removeLink } from './links.ts';

const path = '/projects/:id/issues/:issue_iid/links';

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
  summary: 'List linked issues of an issue, earliest link first',
  area,
  audience: 'user',
  list: true,
  params: object({ ...params, ...pageParams }),
  reply: linkedShape,
  handle: async (call, params) => {
    const { target } = await findIssue(call, params.id, params.issue_iid);
    const { items: links, total } = await listLinks(call, target.id, pageRequest(params));
    const otherId = (link: Link): number => otherIssueId(link, target.id);
    const issues = await issueJsonById(call, links.map(otherId));
    const items = links.flatMap((link) => {
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
    return { items, total };
  },
});

const linkJson = async (call: Call, link: Link, issueId: number) => {
  const otherId = otherIssueId(link, issueId);
  const issues = await issueJsonById(call, [issueId, otherId]);
  return {
    id: link.id,
    source_issue: issues.get(issueId),
    target_issue: issues.get(otherId),
    link_type: typeFrom(link, issueId),
  };
};

const show = endpoint({
  method: 'GET',
  path: `${path}/:issue_link_id`,
  summary: 'Get a link of an issue',
  area,
  audience: 'user',
  params: object({ ...params, issue_link_id: id('id of the link') }),
  reply: linkShape,
  handle: async (call, params) => {
    const { target } = await findIssue(call, params.id, params.issue_iid);
    return await linkJson(call, await findLink(call, target.id, params.issue_link_id), target.id);
  },
});

const create = endpoint({
  method: 'POST',
  path,
  summary: 'Create a link between issues (reporters of both projects)',
  area,
  audience: 'user',
  params: object({
    ...params,
    target_project_id: idOrPath('project of the other issue'),
    target_issue_iid: id('iid of the other issue'),
    link_type: oneOf(linkTypes, { default: 'relates_to' }),
  }),
  reply: linkShape,
  handle: async (call, params) => {
    const loaded = await findIssue(call, params.id, params.issue_iid);
    if (!mayLink(call, loaded)) throw forbidden();
    const linked = await findIssue(call, params.target_project_id, params.target_issue_iid);
    const linkId = await createLink(call, loaded, linked, params.link_type);
    const { id: here } = loaded.target;
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
    link_type: optional(oneOf(linkTypes, { description: 'accepted: the link is identified by its id' })),
  }),
  reply: linkShape,
  handle: async (call, params) => {
    const loaded = await findIssue(call, params.id, params.issue_iid);
    const link = await findLink(call, loaded.target.id, params.issue_link_id);
    if (!mayLink(call, loaded)) throw forbidden();
    const json = await linkJson(call, link, loaded.target.id);
    await removeLink(call, loaded, link);
    return json;
  },
});

export const issueLinkRoutes = [list, show, create, remove];
