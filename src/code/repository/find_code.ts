/** Finds a project with its repository, for endpoints about code. */
import type { Call } from '../../core/access/call.ts';
import { type ProjectAction, may } from '../../core/access/may.ts';
import type { Viewer } from '../../core/access/viewer.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { Oid, Sight } from '../../platform/git/protocol_types.ts';
import type { Repository } from '../../platform/git/repository.ts';
import { idOrPath } from '../../platform/http/schema.ts';
import { type Project, findProjectFor } from '../../projects/projects/find.ts';
import { getRepository } from './get_repository.ts';

export type Code = {
  project: Project;
  repository: Repository;
  /**
   * Limits the objects a caller may name by id to objects reachable from refs that the caller may see. Absent for
   * unlimited reads by the service.
   */
  sight?: CallerSight;
};

export type CallerSight = {
  /** True if the caller may not see refs of merge requests. */
  hidesRequests: boolean;
  /** Returns whether the caller may see a pipeline of the commit, which outlives its refs. */
  hasPipeline: (sha: Oid) => Promise<boolean>;
};

/** Returns which objects of a project a viewer may name by id. */
export const getCallerSight = (db: Reader, viewer: Viewer, project: Project): CallerSight => {
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

/** Converts a caller's sight to the parameters of git requests. */
export const storageSight = ({ sight }: Pick<Code, 'sight'>): Sight =>
  sight === undefined ? {} : { reachable: true, hide_requests: sight.hidesRequests };

/** The project parameter of every endpoint about code. */
export const projectParam = idOrPath('id or full path of the project');

/** Returns the code of a project that the caller may read, with what they may name by id. */
export const openCode = (call: Call, project: Project): Code => ({
  project,
  repository: getRepository(call.platform, project),
  sight: getCallerSight(call.db, call.viewer, project),
});

/**
 * Finds a project in which the caller may do `action`.
 * @throws Failure 404 if the caller may not see the project, 403 if the action is not allowed
 */
export const findCode = async (
  call: Call,
  id: number | string,
  action: ProjectAction = 'read_code',
): Promise<Code> => openCode(call, await findProjectFor(call, id, action));

/** Returns the full ref name of the default branch; null for an empty repository. */
export const getDefaultRef = ({ default_branch }: Pick<Project, 'default_branch'>): string | null =>
  default_branch === null ? null : `refs/heads/${default_branch}`;

export const getWebUrl = ({ baseUrl }: Pick<Call, 'baseUrl'>, { full_path }: { full_path: string }): string =>
  `${baseUrl}/${full_path}`;
