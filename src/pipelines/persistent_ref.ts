/** `refs/pipelines/<id>` keeps the commit of a pipeline while its jobs fetch it, whatever is pushed meanwhile. */
import type { Platform } from '../access/call.ts';
import { isGitFailure } from '../git/failure.ts';
import { zeroOid } from '../git/protocol_types.ts';
import type { Repository } from '../git/repository.ts';
import { repositoryOf } from '../repository/open.ts';
import { findRef } from '../repository/resolve.ts';

type Kept = { id: number; project_id: number };

export const pipelineRefOf = (id: number): string => `refs/pipelines/${id}`;

const repositoryOfProject = async (platform: Platform, id: number): Promise<Repository | null> => {
  const project = await platform.store.db
    .selectFrom('projects')
    .select(['id', 'repository_storage'])
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return project === undefined ? null : repositoryOf(platform, project);
};

/** May be done twice, and side by side. A commit that is gone keeps no ref. */
export const ensurePipelineRef = async (
  platform: Platform,
  { id, project_id, sha }: Kept & { sha: string },
): Promise<void> => {
  const repository = await repositoryOfProject(platform, project_id);
  if (repository === null) return;
  const ref = pipelineRefOf(id);
  if ((await findRef(repository, ref)) !== null) return;
  try {
    await repository.ask('refs.update', { updates: [{ ref, old: null, new: sha }] });
  } catch (error) {
    if (!isGitFailure(error, 'invalid') && !isGitFailure(error, 'missing')) throw error;
  }
};

/** Once no job of it runs any more. May be done twice. */
export const dropPipelineRef = async (platform: Platform, { id, project_id }: Kept): Promise<void> => {
  const repository = await repositoryOfProject(platform, project_id);
  if (repository === null) return;
  const ref = pipelineRefOf(id);
  if ((await findRef(repository, ref)) === null) return;
  await repository.ask('refs.update', { updates: [{ ref, old: null, new: zeroOid }] });
};
