/** Measures the repositories in storages of other machines, of which no folder is here. */
import type { Config } from '../../../platform/config/fields.ts';
import type { Store } from '../../../platform/db/open.ts';
import { forEachConcurrently } from '../../../platform/for_each_concurrently.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { Repository } from '../../../platform/git/repository.ts';
import { openStoragesAsGuest } from '../../service/open_storages.ts';

/** Repositories that are asked at once. */
const concurrency = 8;

/** Returns the bytes of a repository; 0 if it cannot be asked, which the backup itself reports. */
const measureRepository = async (repository: Repository): Promise<number> => {
  try {
    return (await repository.ask('repository.statistics', {})).size;
  } catch (error) {
    if (!isGitFailure(error)) throw error;
    return 0;
  }
};

export const measureRemoteRepositories = async (
  { config, store }: { config: Config; store: Store },
  instance: string,
): Promise<number> => {
  const remote = config.repository_storages.filter(({ address }) => address !== null);
  if (remote.length === 0) return 0;
  const rows = await store.db
    .selectFrom('projects')
    .select(['id', 'repository_storage', 'repository_path', 'repository_written'])
    .where('repository_written', '=', 1)
    .where('deleted_at', 'is', null)
    .where(
      'repository_storage',
      'in',
      remote.map(({ name }) => name),
    )
    .execute();
  const git = openStoragesAsGuest(config, instance);
  let size = 0;
  try {
    await forEachConcurrently(rows, concurrency, async (row) => {
      const own = await measureRepository(git.repository(row));
      size += own;
    });
    return size;
  } finally {
    await git.stop();
  }
};
