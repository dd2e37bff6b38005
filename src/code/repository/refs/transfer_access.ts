/** Authorizes fetches and pushes over HTTP and SSH. Git shows the messages to its user. */
import { may } from '../../../core/access/may.ts';
import type { Cause } from '../../../core/access/audit.ts';
import type { Call } from '../../../core/access/call.ts';
import { getGitClient } from '../../../core/access/git_client.ts';
import type { Viewer } from '../../../core/access/viewer.ts';
import type { Config } from '../../../platform/config/fields.ts';
import type { Client, Quota } from '../../../platform/git/protocol_types.ts';
import type { Project } from '../../../projects/projects/find.ts';

export type GitService = 'git-upload-pack' | 'git-receive-pack';

/** The user or deploy key that fetches or pushes. */
export type GitUser = {
  viewer: Viewer;
  /** null for anonymous access and deploy keys. */
  cause: Cause | null;
  /** Scopes of the token; null if authenticated by other credentials, which have no limits. */
  scopes: readonly string[] | null;
  /** The deploy key and its rights in the target project; null if none was used. */
  deployKey: { id: number; canPush: boolean } | null;
};

/** Returns the client that concurrency limits count a transfer for: user, deploy key or address. */
export const transferClient = (
  { cause, deployKey }: Pick<GitUser, 'cause' | 'deployKey'>,
  ip: string,
): Client => {
  const client = getGitClient(cause?.user.id ?? null, ip);
  return cause === null && deployKey !== null ? { ...client, name: `key ${deployKey.id}` } : client;
};

/** Returns the client of an API request for the same limits. */
export const callClient = ({ actor, ip }: Pick<Call, 'actor' | 'ip'>): Client =>
  transferClient({ cause: actor, deployKey: null }, ip);

export const refusalTexts = {
  missing: "The project you were looking for could not be found or you don't have permission to view it.",
  download: 'You are not allowed to download code from this project.',
  upload: 'You are not allowed to push code to this project.',
  keyUpload: 'This deploy key does not have write access to this project.',
  archived: 'You are not allowed to push code to this project: it is archived.',
} as const;

const sufficientScopes: Record<GitService, readonly string[]> = {
  'git-upload-pack': ['api', 'read_repository', 'write_repository'],
  'git-receive-pack': ['api', 'write_repository'],
};

/** Returns whether a user's credentials permit a service. */
export const mayUse = ({ scopes }: GitUser, service: GitService): boolean =>
  scopes === null || sufficientScopes[service].some((scope) => scopes.includes(scope));

/** Returns why a deploy key may not use the service; null if it may. Project visibility does not limit deploy keys. */
const keyProblem = (
  { canPush }: { canPush: boolean },
  project: Project,
  service: GitService,
): string | null => {
  const off = project.repository_access_level === 'disabled';
  if (service === 'git-upload-pack') return off ? refusalTexts.download : null;
  if (project.archived === 1) return refusalTexts.archived;
  if (off) return refusalTexts.upload;
  return canPush ? null : refusalTexts.keyUpload;
};

/** Returns why a user may not fetch from or push to a visible project; null if allowed. */
export const transferProblem = (user: GitUser, project: Project, service: GitService): string | null => {
  const { viewer, deployKey } = user;
  if (deployKey !== null) return keyProblem(deployKey, project, service);
  if (service === 'git-upload-pack') {
    return may(viewer, 'read_code', project) && mayUse(user, service) ? null : refusalTexts.download;
  }
  if (may(viewer, 'push_code', project)) return mayUse(user, service) ? null : refusalTexts.upload;
  const mayOtherwise = may(viewer, 'push_code', { ...project, archived: 0 });
  return mayOtherwise ? refusalTexts.archived : refusalTexts.upload;
};

/**
 * Returns whether `refs/merge-requests/` is hidden from the user: merge requests may be limited to members while code
 * is public. A deploy key sees them unless merge requests are disabled.
 */
export const hidesRequests = ({ viewer, deployKey }: GitUser, project: Project): boolean =>
  deployKey === null
    ? !may(viewer, 'read_merge_request', project)
    : project.merge_requests_access_level === 'disabled';

/** Returns whether pipeline refs are visible: only to jobs, in their own project. */
export const seesPipelineRefs = ({ viewer: { job } }: GitUser, { id }: Pick<Project, 'id'>): boolean =>
  job?.project_id === id;

const megabyte = 2 ** 20;

const toBytes = (megabytes: number): number | null => (megabytes === 0 ? null : megabytes * megabyte);

export const getQuota = (config: Pick<Config, 'push_limit' | 'file_limit' | 'repository_limit'>): Quota => ({
  push_bytes: toBytes(config.push_limit),
  file_bytes: toBytes(config.file_limit),
  repository_bytes: toBytes(config.repository_limit),
});

/** Returns the ref that HEAD points to: the default branch, or its future name before the first push. */
export const getHeadRef = (
  { default_branch }: Pick<Project, 'default_branch'>,
  config: Pick<Config, 'default_branch'>,
): string => `refs/heads/${default_branch ?? config.default_branch}`;
