/** Builds the `CI_` variables of a pipeline's project, commit, ref, user and merge request. Pure. */
import type { Commit } from '../../../platform/git/protocol_types.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { formatSigned, toCommitTitle } from '../../../code/repository/commits/json.ts';
import type { PipelineSource } from '../../../platform/db/schema/ci.ts';

export type PipelineRef = {
  /** Short name; for a merge request, its source branch. */
  name: string;
  type: 'branch' | 'tag' | 'merge_request';
};

export type PredefinedFacts = {
  project: Pick<Project, 'id' | 'path' | 'full_path' | 'name' | 'visibility' | 'default_branch'> & {
    ci_config_path: string | null;
  };
  source: PipelineSource;
  ref: PipelineRef;
  isProtected: boolean;
  commit: Commit;
  before_sha: string;
  user: { id: number; username: string; name: string; email: string } | null;
  merge_request?: MergeRequestFacts;
  /** Open merge requests of the branch, as `group/project!1,group/project!2`. */
  open_requests?: string;
};

export type MergeRequestFacts = {
  id: number;
  iid: number;
  project_id: number;
  title: string;
  source_branch: string;
  /** For a request in a stack, the target once the requests below are merged. */
  target_branch: string;
  source_project_id: number;
  source_project_path: string;
  target_project_path: string;
  base_sha: string;
  labels: string[];
  /** User names. */
  assignees: string[];
  milestone: string | null;
};

/** Converts a name to a host name label: lower case, `-` for other characters, at most 63 characters. */
export const toSlug = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '-')
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '');

const toCommitVariables = ({
  commit,
  before_sha,
  ref,
  isProtected,
}: PredefinedFacts): Record<string, string> => {
  const title = toCommitTitle(commit.message);
  const description = commit.message.split('\n').slice(1).join('\n').trim();
  return {
    CI_COMMIT_SHA: commit.id,
    CI_COMMIT_SHORT_SHA: commit.id.slice(0, 8),
    CI_COMMIT_BEFORE_SHA: before_sha,
    CI_COMMIT_REF_NAME: ref.name,
    CI_COMMIT_REF_SLUG: toSlug(ref.name),
    CI_COMMIT_REF_PROTECTED: String(isProtected),
    CI_COMMIT_MESSAGE: commit.message,
    CI_COMMIT_TITLE: title,
    CI_COMMIT_DESCRIPTION: description,
    CI_COMMIT_AUTHOR: `${commit.author.name} <${commit.author.email}>`,
    CI_COMMIT_TIMESTAMP: formatSigned(commit.committer),
    ...(ref.type === 'branch' && { CI_COMMIT_BRANCH: ref.name }),
    ...(ref.type === 'tag' && { CI_COMMIT_TAG: ref.name }),
  };
};

const toProjectVariables = ({ project }: PredefinedFacts): Record<string, string> => ({
  CI_PROJECT_ID: String(project.id),
  CI_PROJECT_NAME: project.path,
  CI_PROJECT_TITLE: project.name,
  CI_PROJECT_PATH: project.full_path,
  CI_PROJECT_PATH_SLUG: toSlug(project.full_path),
  CI_PROJECT_NAMESPACE: project.full_path.slice(0, project.full_path.lastIndexOf('/')),
  CI_PROJECT_ROOT_NAMESPACE: project.full_path.split('/', 1)[0] ?? '',
  CI_PROJECT_VISIBILITY: project.visibility,
  CI_CONFIG_PATH: project.ci_config_path ?? '.gitlab-ci.yml',
  ...(project.default_branch !== null && { CI_DEFAULT_BRANCH: project.default_branch }),
});

const toUserVariables = ({ user }: PredefinedFacts): Record<string, string> =>
  user === null
    ? {}
    : {
        GITLAB_USER_ID: String(user.id),
        GITLAB_USER_LOGIN: user.username,
        GITLAB_USER_NAME: user.name,
        GITLAB_USER_EMAIL: user.email,
      };

const toMergeRequestVariables = ({
  merge_request: request,
  commit,
}: PredefinedFacts): Record<string, string> =>
  request === undefined
    ? {}
    : {
        CI_MERGE_REQUEST_ID: String(request.id),
        CI_MERGE_REQUEST_IID: String(request.iid),
        CI_MERGE_REQUEST_PROJECT_ID: String(request.project_id),
        CI_MERGE_REQUEST_PROJECT_PATH: request.target_project_path,
        CI_MERGE_REQUEST_TITLE: request.title,
        CI_MERGE_REQUEST_REF_PATH: `refs/merge-requests/${request.iid}/head`,
        CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: request.source_branch,
        CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: commit.id,
        CI_MERGE_REQUEST_SOURCE_PROJECT_ID: String(request.source_project_id),
        CI_MERGE_REQUEST_SOURCE_PROJECT_PATH: request.source_project_path,
        CI_MERGE_REQUEST_TARGET_BRANCH_NAME: request.target_branch,
        CI_MERGE_REQUEST_DIFF_BASE_SHA: request.base_sha,
        CI_MERGE_REQUEST_EVENT_TYPE: 'detached',
        ...(request.labels.length > 0 && { CI_MERGE_REQUEST_LABELS: request.labels.join(',') }),
        ...(request.assignees.length > 0 && { CI_MERGE_REQUEST_ASSIGNEES: request.assignees.join(', ') }),
        ...(request.milestone !== null && { CI_MERGE_REQUEST_MILESTONE: request.milestone }),
      };

/** Returns the variable by which workflows avoid a second pipeline of a branch with a merge request. */
const toOpenRequestVariables = ({ open_requests: open = '' }: PredefinedFacts): Record<string, string> =>
  open === '' ? {} : { CI_OPEN_MERGE_REQUESTS: open };

/** Returns the variables that are known before the pipeline and its jobs exist. */
export const toPredefinedVariables = (facts: PredefinedFacts): Record<string, string> => ({
  CI: 'true',
  GITLAB_CI: 'true',
  CI_PIPELINE_SOURCE: facts.source,
  ...(facts.source === 'trigger' && { CI_PIPELINE_TRIGGERED: 'true' }),
  ...toProjectVariables(facts),
  ...toCommitVariables(facts),
  ...toUserVariables(facts),
  ...toMergeRequestVariables(facts),
  ...toOpenRequestVariables(facts),
});
