import type { Platform } from '../access/call.ts';

const megabyte = 1024 * 1024;

/** Bytes that one file of a job may have: as its project says, else as the instance does. */
export const largestArtifact = async (
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
