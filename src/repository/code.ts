/** The project and its repository, as endpoints about code find them. */
import type { Call } from '../access/call.ts';
import { type ProjectAction, may } from '../access/may.ts';
import type { Viewer } from '../access/viewer.ts';
import type { Reader } from '../db/open.ts';
import type { Oid, Sight } from '../git/protocol_types.ts';
import type { Repository } from '../git/repository.ts';
import { idOrPath } from '../http/schema.ts';
import { type Project, findProjectFor } from '../projects/find.ts';
import { repositoryOf } from './open.ts';

export type Code = {
  project: Project;
  repository: Repository;
  /**
   * Of a caller: commits and blobs are named by id only where a ref leads to them that the caller may see. Absent: the
   * service itself reads, and reads all.
   */
  sight?: CallerSight;
};

export type CallerSight = {
  /** The refs of merge requests are not for this one. */
  hidesRequests: boolean;
  /** Whether the caller may see a pipeline of the commit, which outlives its refs. */
  hasPipeline: (sha: Oid) => Promise<boolean>;
};

/** What a viewer may name by id in a project. */
export const sightOf = (db: Reader, viewer: Viewer, project: Project): CallerSight => {
  const hidesRequests = !may(viewer, 'read_merge_request', project);
  return {
    hidesRequests,
    hasPipeline: async (sha) => {
      if (!may(viewer, 'read_pipeline', project)) return false;
      const row = await db
        .selectFrom('pipelines')
        .select('id')
        .where('project_id', '=', project.id)
        .where('sha', '=', sha)
        .$if(hidesRequests, (query) => query.where('merge_request_id', 'is', null))
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },
  };
};

/** The same, as the storage takes it. */
export const storageSight = ({ sight }: Pick<Code, 'sight'>): Sight =>
  sight === undefined ? {} : { reachable: true, hide_requests: sight.hidesRequests };

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
  const sight = sightOf(call.db, call.viewer, project);
  return { project, repository: repositoryOf(call.platform, project), sight };
};

/** The full name of the default branch; null: the repository is empty. */
export const defaultRefOf = ({ default_branch }: Pick<Project, 'default_branch'>): string | null =>
  default_branch === null ? null : `refs/heads/${default_branch}`;

export const webUrlOf = ({ baseUrl }: Pick<Call, 'baseUrl'>, { full_path }: { full_path: string }): string =>
  `${baseUrl}/${full_path}`;
