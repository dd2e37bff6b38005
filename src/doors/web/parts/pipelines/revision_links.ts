/** Links to the branch, tag or merge request, and to the commit, that pipelines, jobs and deployments ran for. */
import { toCommitTitle, toShortId } from '../../../../code/repository/commits/json.ts';
import { getRepository } from '../../../../code/repository/get_repository.ts';
import { loadJobCommits } from '../../../../ci/jobs/load_relations.ts';
import { type RequestLink, loadRequestLinks } from '../../../../ci/pipelines/request_links.ts';
import { may } from '../../../../core/access/may.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';
import { codePath } from '../code/code_path.ts';
import { commitPath } from '../code/commit_line.ts';
import { projectPagePath } from '../frame/project_layout.ts';
import { type Html, html } from '../html.ts';
import { icon } from '../icon.ts';

/** Revision that a pipeline, a job or a deployment ran for. */
export type Revision = { ref: string; tag: number; sha: string; merge_request_id: number | null };

export type RevisionLinks = {
  /** Renders the branch, tag or merge request. */
  refLink: (revision: Revision) => Html;
  /** Renders the short id of the commit. */
  commitLink: (revision: Revision) => Html;
  /** Returns the title of the commit; null if the viewer may not read it, or it is gone. */
  titleOf: (revision: Revision) => string | null;
};

const requestRef = /^refs\/merge-requests\/(\d+)\//;

const requestLink = (project: Project, { iid, title, source_branch, full_path }: RequestLink): Html => {
  const place = full_path === project.full_path ? '' : full_path;
  return html`<span class="ref">${icon('merge-request', 'Merge request')} <a href="${projectPagePath({ full_path }, `merge_requests/${iid}`)}" title="${title}">${place}!${iid}</a> <span class="quiet">${source_branch}</span></span>`;
};

const refLinkOf = (
  project: Project,
  { ref, tag }: Revision,
  { request, readsCode }: { request: RequestLink | undefined; readsCode: boolean },
): Html => {
  if (request !== undefined) return requestLink(project, request);
  const [, iid] = requestRef.exec(ref) ?? [];
  // The merge request is gone, or hidden from the viewer.
  if (iid !== undefined)
    return html`<span class="ref">${icon('merge-request', 'Merge request')} !${iid}</span>`;
  const image = tag === 1 ? icon('tag', 'Tag') : icon('branch', 'Branch');
  const isLinked = readsCode && !ref.startsWith('refs/');
  return html`<span class="ref">${image} ${isLinked ? html`<a href="${codePath(project, 'tree', ref)}">${ref}</a>` : ref}</span>`;
};

/** Loads what the links of a page need, in one statement and one call of git. */
export const loadRevisionLinks = async (
  { call }: Visit,
  project: Project,
  revisions: readonly Revision[],
): Promise<RevisionLinks> => {
  const readsCode = may(call.viewer, 'read_code', project);
  const shas = new Set(revisions.map(({ sha }) => sha));
  const [requests, commits] = await Promise.all([
    loadRequestLinks(
      call,
      revisions.map(({ merge_request_id }) => merge_request_id),
    ),
    readsCode && shas.size > 0 ? loadJobCommits(getRepository(call.platform, project), shas) : null,
  ]);
  return {
    refLink: (revision) =>
      refLinkOf(project, revision, { request: requests.get(revision.merge_request_id ?? 0), readsCode }),
    commitLink: ({ sha }) => {
      const id = html`<code>${toShortId(sha)}</code>`;
      return readsCode ? html`<a class="commit-id" href="${commitPath(project, sha)}">${id}</a>` : id;
    },
    titleOf: ({ sha }) => {
      const commit = commits?.get(sha);
      return commit === undefined ? null : toCommitTitle(commit.message);
    },
  };
};
