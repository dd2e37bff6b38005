import type { Platform } from '../../../core/platform.ts';

const megabyte = 1024 * 1024;

/** Returns the largest size of one artifact in bytes: the project's limit, else the instance's. */
export const getArtifactSizeLimit = async (
  { store, config }: Pick<Platform, 'store' | 'config'>,
  projectId: number,
): Promise<number> => {
  const project = await store.db
    .selectFrom('projects')
    .select('max_artifacts_size')
    .where('id', '=', projectId)
    .executeTakeFirst();
  const megabytes = project?.max_artifacts_size ?? config.artifact_limit;
  return megabytes === 0 ? Number.MAX_SAFE_INTEGER : megabytes * megabyte;
};
