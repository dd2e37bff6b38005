/** The Commits tab of a merge request. */
import { may } from '../../../../../core/access/may.ts';
import { loadShownPipelines } from '../../../parts/pipelines/load_shown_pipelines.ts';
import type { JsonText } from '../../../../../platform/http/endpoint.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { object } from '../../../../../platform/http/schema.ts';
import { isGitFailure } from '../../../../../platform/git/failure.ts';
import type { Oid, Signature } from '../../../../../platform/git/protocol_types.ts';
import { openCachedCode } from '../../../../../code/repository/read_cache.ts';
import { loadCommits } from '../../../../../code/repository/refs/resolve.ts';
import { type Project, loadProject } from '../../../../../projects/projects/find.ts';
import { type LoadedMergeRequest, findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { listCommits } from '../../../../../review/merge_requests/versions/serve_changes.ts';
import type { VersionCommit } from '../../../../../review/merge_requests/versions/json.ts';
import { type Visit, page } from '../../../page.ts';
import { type ListedCommit, commitList } from '../../../parts/code/commit_list.ts';
import { listNamed, loadCommitPeople } from '../../../parts/code/commit_people.ts';
import { type Signatures, loadSignatures } from '../../../parts/code/signature_badge.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { type Html, html } from '../../../parts/html.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { changesPath } from '../changes/changes_address.ts';
import { oneRequest, requestPath, requestsRoutePath } from '../paths.ts';
import { requestFrame } from '../frame/merge_request_layout.ts';

const isStored = (item: unknown): boolean => Buffer.isBuffer((item as JsonText).bytes);

/** Reads a stored commit, which is JSON text, or one that was read from git. */
const parseCommit = (item: unknown): VersionCommit =>
  isStored(item)
    ? (JSON.parse((item as JsonText).bytes.toString('utf8')) as VersionCommit)
    : (item as VersionCommit);

const toSignature = (name: string, email: string, date: string): Signature => ({
  name,
  email,
  time: Math.floor(Date.parse(date) / 1000),
  offset: '+0000',
});

const toCommit = (commit: VersionCommit): ListedCommit => ({
  id: commit.id,
  message: commit.message,
  author: toSignature(commit.author_name, commit.author_email, commit.authored_date),
  committer: toSignature(commit.committer_name, commit.committer_email, commit.committed_date),
});

/** Returns the project whose pages show the commits: the project of the branch, if the viewer can read it. */
const findCommitProject = async (
  { call }: Visit,
  { merge_request: { source_project_id: id }, project }: LoadedMergeRequest,
): Promise<Project> => {
  if (id === null || id === project.id) return project;
  const source = await loadProject(call.db, id);
  return source !== null && may(call.viewer, 'read_code', source) ? source : project;
};

/** Loads the signatures of the commits, which the target project has; none if its storage does not answer. */
const loadSignaturesOf = async (visit: Visit, project: Project, ids: readonly Oid[]): Promise<Signatures> => {
  const code = openCachedCode(visit.call, project);
  try {
    const commits = await loadCommits(code.repository, ids);
    return await loadSignatures(visit, code, [...commits.values()]);
  } catch (error) {
    if (!isGitFailure(error)) throw error;
    return new Map();
  }
};

type PageQuery = { page?: number; per_page?: number };

const commitsPart = async (visit: Visit, loaded: LoadedMergeRequest, query: PageQuery): Promise<Html> => {
  const request = pageRequest(query);
  const { items, total } = await listCommits(visit.call, loaded, request);
  if (items.length === 0) {
    return html`<section class="card">${emptyState({ icon: 'commit', title: 'No commits', text: 'Push commits to the source branch.' })}</section>`;
  }
  const commits = items.map((item) => toCommit(parseCommit(item)));
  const project = await findCommitProject(visit, loaded);
  const shas = commits.map(({ id }) => id);
  const [pipelines, people, signatures] = await Promise.all([
    loadShownPipelines(visit, project, shas),
    loadCommitPeople(visit, project, listNamed(commits)),
    loadSignaturesOf(visit, loaded.project, shas),
  ]);
  const path = requestPath(loaded, '/commits');
  // The Changes tab knows only stored commits.
  const pathOf = items.every(isStored) ? (id: string) => changesPath(loaded, { commit_id: id }) : undefined;
  return html`${commitList(project, commits, { pipelines, people, signatures, pathOf })}${pagesNav({ path, query: {}, page: request, total })}`;
};

export const commitsPages = [
  page({
    method: 'GET',
    path: `${requestsRoutePath}/:iid/commits`,
    audience: 'visitor',
    params: object({ ...oneRequest, ...pageParams }),
    handle: async (visit, { project, iid, ...query }) => {
      const loaded = await findMergeRequest(visit.call, project, iid);
      return await requestFrame(visit, loaded, { tab: 'commits' }, await commitsPart(visit, loaded, query));
    },
  }),
];
