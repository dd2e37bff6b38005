/** The project and its repository, as endpoints about code find them. */
import type { Call } from '../access/call.ts';
import { type ProjectAction, may } from '../access/may.ts';
import type { Repository } from '../git/repository.ts';
import { idOrPath } from '../http/schema.ts';
import { type Project, findProjectFor } from '../projects/find.ts';
import { repositoryOf } from './open.ts';

export type Code = {
  project: Project;
  repository: Repository;
  /** The refs of merge requests are not for this one. */
  hidesRequests?: boolean;
};

/** The path parameter of every endpoint here. */
export const projectParam = idOrPath('id or full path of the project');

/**
 * @throws Failure 404 where the caller does not see the project, 403 where he may not do this in it
 */
export const findCode = async (
  call: Call,
  id: number | string,
  action: ProjectAction = 'read_code',
): Promise<Code> => {
  const project = await findProjectFor(call, id, action);
  const hidesRequests = !may(call.viewer, 'read_merge_request', project);
  return { project, repository: repositoryOf(call.platform, project), hidesRequests };
};

/** The full name of the default branch; null: the repository is empty. */
export const defaultRefOf = ({ default_branch }: Pick<Project, 'default_branch'>): string | null =>
  default_branch === null ? null : `refs/heads/${default_branch}`;

export const webUrlOf = ({ baseUrl }: Pick<Call, 'baseUrl'>, { full_path }: { full_path: string }): string =>
  `${baseUrl}/${full_path}`;
