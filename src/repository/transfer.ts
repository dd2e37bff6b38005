/** Who may fetch from a project, and who may push to it, by whatever door he comes. Texts as git shows them. */
import { may } from '../access/may.ts';
import type { Cause } from '../access/audit.ts';
import type { Call } from '../access/call.ts';
import type { Viewer } from '../access/viewer.ts';
import type { Config } from '../config.ts';
import type { Client, Quota } from '../git/protocol_types.ts';
import type { Project } from '../projects/find.ts';
import { originOf } from '../sessions/attempts.ts';

export type GitService = 'git-upload-pack' | 'git-receive-pack';

/** Who fetches or pushes. */
export type GitUser = {
  viewer: Viewer;
  /** null: nobody known, or a deploy key. */
  cause: Cause | null;
  /** Of his token; null: he brought something else, which opens everything. */
  scopes: readonly string[] | null;
  /** A key of projects, not of a user: what it may in the project that is meant; null: not one. */
  deployKey: { id: number; canPush: boolean } | null;
};

/** Whose places a transfer takes: of the user or deploy key, else of the address. */
export const transferClient = (
  { cause, deployKey }: Pick<GitUser, 'cause' | 'deployKey'>,
  ip: string,
): Client => {
  const address = originOf(ip);
  if (cause !== null) return { name: `user ${cause.user.id}`, address };
  return { name: deployKey === null ? `address ${address}` : `key ${deployKey.id}`, address };
};

/** The same for a request to the API. */
export const callClient = ({ actor, ip }: Pick<Call, 'actor' | 'ip'>): Client =>
  transferClient({ cause: actor, deployKey: null }, ip);

export const texts = {
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

const hasScope = ({ scopes }: GitUser, service: GitService): boolean =>
  scopes === null || sufficientScopes[service].some((scope) => scopes.includes(scope));

/** What a deploy key reaches, it reaches whatever its project shows to others. */
const keyProblem = (
  { canPush }: { canPush: boolean },
  project: Project,
  service: GitService,
): string | null => {
  const off = project.repository_access_level === 'disabled';
  if (service === 'git-upload-pack') return off ? texts.download : null;
  if (project.archived === 1) return texts.archived;
  if (off) return texts.upload;
  return canPush ? null : texts.keyUpload;
};

/** Why this one may not do that in a project that he sees; null: he may. */
export const transferProblem = (user: GitUser, project: Project, service: GitService): string | null => {
  const { viewer, deployKey } = user;
  if (deployKey !== null) return keyProblem(deployKey, project, service);
  if (service === 'git-upload-pack') {
    return may(viewer, 'read_code', project) && hasScope(user, service) ? null : texts.download;
  }
  if (may(viewer, 'push_code', project)) return hasScope(user, service) ? null : texts.upload;
  const mayOtherwise = may(viewer, 'push_code', { ...project, archived: 0 });
  return mayOtherwise ? texts.archived : texts.upload;
};

/**
 * Whether `refs/merge-requests/` is not for this one: they may be for members alone where the code is for all. A
 * deploy key was given by one who may read them.
 */
export const hidesRequests = ({ viewer, deployKey }: GitUser, project: Project): boolean =>
  deployKey === null
    ? !may(viewer, 'read_merge_request', project)
    : project.merge_requests_access_level === 'disabled';

/** Jobs see the refs that keep pipelines' commits, of their own project. */
export const seesPipelineRefs = ({ viewer: { job } }: GitUser, { id }: Pick<Project, 'id'>): boolean =>
  job?.project_id === id;

const megabyte = 2 ** 20;

const bytesOf = (megabytes: number): number | null => (megabytes === 0 ? null : megabytes * megabyte);

export const quotaOf = (config: Pick<Config, 'push_limit' | 'file_limit' | 'repository_limit'>): Quota => ({
  push_bytes: bytesOf(config.push_limit),
  file_bytes: bytesOf(config.file_limit),
  repository_bytes: bytesOf(config.repository_limit),
});

/** What a clone checks out; before the first push, what the first branch is to be called. */
export const headOf = (
  { default_branch }: Pick<Project, 'default_branch'>,
  config: Pick<Config, 'default_branch'>,
): string => `refs/heads/${default_branch ?? config.default_branch}`;
