/** What the service tells a job of what it runs for: the `CI_` variables. Pure. */
import type { Commit } from '../git/protocol_types.ts';
import type { Project } from '../projects/find.ts';
import { formatSigned, titleOf } from '../repository/commit_json.ts';
import type { PipelineSource } from '../db/schema_ci.ts';

export type PipelineRef = {
  /** Short name; of a merge request, its source branch. */
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
  /** The open merge requests of the branch, as people name them. */
  open_requests?: string;
};

export type MergeRequestFacts = {
  id: number;
  iid: number;
  project_id: number;
  title: string;
  source_branch: string;
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

/** As part of a host name: lower case, `-` for all else, 63 characters at most. */
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '-')
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '');

const ofCommit = ({ commit, before_sha, ref, isProtected }: PredefinedFacts): Record<string, string> => {
  const title = titleOf(commit.message);
  const rest = commit.message.split('\n').slice(1).join('\n').trim();
  return {
    CI_COMMIT_SHA: commit.id,
    CI_COMMIT_SHORT_SHA: commit.id.slice(0, 8),
    CI_COMMIT_BEFORE_SHA: before_sha,
    CI_COMMIT_REF_NAME: ref.name,
    CI_COMMIT_REF_SLUG: slugOf(ref.name),
    CI_COMMIT_REF_PROTECTED: String(isProtected),
    CI_COMMIT_MESSAGE: commit.message,
    CI_COMMIT_TITLE: title,
    CI_COMMIT_DESCRIPTION: rest,
    CI_COMMIT_AUTHOR: `${commit.author.name} <${commit.author.email}>`,
    CI_COMMIT_TIMESTAMP: formatSigned(commit.committer),
    ...(ref.type === 'branch' && { CI_COMMIT_BRANCH: ref.name }),
    ...(ref.type === 'tag' && { CI_COMMIT_TAG: ref.name }),
  };
};

const ofProject = ({ project }: PredefinedFacts): Record<string, string> => ({
  CI_PROJECT_ID: String(project.id),
  CI_PROJECT_NAME: project.path,
  CI_PROJECT_TITLE: project.name,
  CI_PROJECT_PATH: project.full_path,
  CI_PROJECT_PATH_SLUG: slugOf(project.full_path),
  CI_PROJECT_NAMESPACE: project.full_path.slice(0, project.full_path.lastIndexOf('/')),
  CI_PROJECT_ROOT_NAMESPACE: project.full_path.split('/', 1)[0] ?? '',
  CI_PROJECT_VISIBILITY: project.visibility,
  CI_CONFIG_PATH: project.ci_config_path ?? '.gitlab-ci.yml',
  ...(project.default_branch !== null && { CI_DEFAULT_BRANCH: project.default_branch }),
});

const ofUser = ({ user }: PredefinedFacts): Record<string, string> =>
  user === null
    ? {}
    : {
        GITLAB_USER_ID: String(user.id),
        GITLAB_USER_LOGIN: user.username,
        GITLAB_USER_NAME: user.name,
        GITLAB_USER_EMAIL: user.email,
      };

const ofMergeRequest = ({ merge_request: request, commit }: PredefinedFacts): Record<string, string> =>
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

/** For workflows that make one pipeline of a branch, not a second one of its merge request. */
const openRequests = ({ open_requests: open = '' }: PredefinedFacts): Record<string, string> =>
  open === '' ? {} : { CI_OPEN_MERGE_REQUESTS: open };

/** Of a pipeline and all of its jobs, as far as it is known before there are any. */
export const predefinedVariables = (facts: PredefinedFacts): Record<string, string> => ({
  CI: 'true',
  GITLAB_CI: 'true',
  CI_PIPELINE_SOURCE: facts.source,
  ...(facts.source === 'trigger' && { CI_PIPELINE_TRIGGERED: 'true' }),
  ...ofProject(facts),
  ...ofCommit(facts),
  ...ofUser(facts),
  ...ofMergeRequest(facts),
  ...openRequests(facts),
});
