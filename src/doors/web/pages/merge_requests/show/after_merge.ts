/** Renders the state after a merge: the pipeline of the merge commit, and the source branch. */
import { latestPipeline } from '../../../../../ci/pipelines/list.ts';
import {
  isProtected,
  loadProtectedBranches,
  mayPushTo,
} from '../../../../../code/repository/protection/rules.ts';
import { getRepository } from '../../../../../code/repository/get_repository.ts';
import { branchPrefix, loadRefs } from '../../../../../code/repository/refs/resolve.ts';
import { may } from '../../../../../core/access/may.ts';
import { isGitFailure } from '../../../../../platform/git/failure.ts';
import { pipelineStatus } from '../../../parts/code/commit_line.ts';
import { button } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import type { Visit } from '../../../page.ts';
import { requestPath } from '../paths.ts';
import type { RequestPage } from './load_overview.ts';

/** Returns the commit of the source branch; null if the branch is gone. */
const loadBranchHead = async ({ call }: Visit, { source, loaded }: RequestPage): Promise<string | null> => {
  if (source === null) return null;
  try {
    const name = branchPrefix + loaded.merge_request.source_branch;
    const [ref] = await loadRefs(getRepository(call.platform, source), [name]);
    return ref?.commit ?? null;
  } catch (error) {
    if (!isGitFailure(error)) throw error;
    return null;
  }
};

/** Returns whether the viewer may delete the source branch, and it has nothing that was not merged. */
const canDeleteSource = async (visit: Visit, shown: RequestPage): Promise<boolean> => {
  const { call } = visit;
  const { source, loaded } = shown;
  const { source_branch: branch, head_sha, state } = loaded.merge_request;
  if (state !== 'merged' || !call.signedIn || source === null || source.default_branch === branch)
    return false;
  if (!may(call.viewer, 'push_code', source)) return false;
  const rules = await loadProtectedBranches(call.db, source.id);
  if (isProtected(rules, branch) || !mayPushTo(call.viewer, source, rules, branch)) return false;
  return head_sha !== null && (await loadBranchHead(visit, shown)) === head_sha;
};

const pipelinePart = async ({ call }: Visit, { loaded }: RequestPage): Promise<Html | null> => {
  const { project, merge_request } = loaded;
  const { merge_commit_sha: sha, target_branch: ref } = merge_request;
  if (sha === null || !call.signedIn || !may(call.viewer, 'read_pipeline', project)) return null;
  const pipeline = await latestPipeline(call.db, project.id, { ref, sha, tag: 0 });
  return pipeline === null
    ? null
    : html`<span>Pipeline of <code>${ref}</code>: ${pipelineStatus(project, pipeline)}</span>`;
};

export const afterMergePart = async (visit: Visit, shown: RequestPage): Promise<Html | null> => {
  const [pipeline, canDelete] = await Promise.all([
    pipelinePart(visit, shown),
    canDeleteSource(visit, shown),
  ]);
  if (pipeline === null && !canDelete) return null;
  const { source_branch } = shown.loaded.merge_request;
  const remove =
    canDelete &&
    button(visit, requestPath(shown.loaded, '/delete_source_branch'), {
      label: 'Delete source branch',
      name: `Delete source branch ${source_branch}`,
      danger: true,
    });
  return html`<div class="body row between">${pipeline}${remove}</div>`;
};
