/** Checks every repository that has been written to: that it exists, and that `git fsck` reports no damage. */
import { join } from 'node:path';
import type { Config } from '../../../platform/config/fields.ts';
import type { Store } from '../../../platform/db/open.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import { type RepositoryLocation, repositoryColumns } from '../../../platform/git/repository.ts';
import {
  type GitStorages,
  type StorageSite,
  getLocalRoot,
  getRepositoryPath,
} from '../../../platform/git/storages.ts';
import { openStoragesAsGuest } from '../../service/open_storages.ts';
import { type DamageCollector, collectDamage } from './collect_damage.ts';
import { type Finding, fail } from './finding.ts';
import type { Progress } from '../progress.ts';

type Row = RepositoryLocation & { full_path: string };

const pageSize = 200;
/** Timeout in seconds for one repository. */
const fsckTimeout = 3_600;
/** Number of git's lines that a finding shows. */
const maxShownLines = 5;

const writtenRepositories = ({ db }: Store) =>
  db.selectFrom('projects').where('repository_written', '=', 1).where('deleted_at', 'is', null);

export const countRepositories = async (store: Store): Promise<number> => {
  const { count } = await writtenRepositories(store)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
};

const listRepositories = async (store: Store, storage: string, after: number): Promise<Row[]> =>
  await writtenRepositories(store)
    .select(['id', 'full_path', ...repositoryColumns])
    .where('repository_storage', '=', storage)
    .where('id', '>', after)
    .orderBy('id')
    .limit(pageSize)
    .execute();

/** Returns whether the project still has its repository there. It may have been deleted or moved meanwhile. */
const isCurrent = async (store: Store, { id, repository_storage }: Row): Promise<boolean> => {
  const row = await writtenRepositories(store)
    .select('repository_storage')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.repository_storage === repository_storage;
};

/** Returns the problem of a repository; null: none. A complaint must repeat, for git may have repacked meanwhile. */
const findProblem = async (git: GitStorages, row: Row): Promise<'missing' | string[] | null> => {
  const repository = git.repository(row);
  const options = { seconds: fsckTimeout };
  const { exists } = await repository.ask('repository.exists', {}, undefined, options);
  if (!exists) return 'missing';
  const first = await repository.ask('repository.check', {}, undefined, options);
  if (first.problems.length === 0) return null;
  const { problems } = await repository.ask('repository.check', {}, undefined, options);
  return problems.length === 0 ? null : problems;
};

type Checking = {
  config: Config;
  store: Store;
  git: GitStorages;
  progress: Progress;
  damage: DamageCollector;
};

const checkRepository = async (parts: Checking, site: StorageSite, row: Row): Promise<void> => {
  const { config, store, git, damage } = parts;
  const problem = await findProblem(git, row);
  if (problem === null || !(await isCurrent(store, row))) return;
  const path = getRepositoryPath(row);
  const place =
    site.address === null ? join(getLocalRoot(config.data, site), path) : `${path} in "${site.name}"`;
  const name = `${row.full_path} (project ${row.id})`;
  const finding =
    problem === 'missing'
      ? fail(
          'repository',
          `${name} is missing: ${place}`,
          'restore it from a backup; until then git and the API answer 503',
        )
      : fail(
          'repository',
          `${name} is damaged, ${place}: ${problems(problem)}`,
          'restore it from a backup, or fetch the objects into it from a complete clone; then run "gantry doctor --thorough" again',
        );
  damage.add(finding);
};

const problems = (lines: readonly string[]): string =>
  lines.slice(0, maxShownLines).join('; ') +
  (lines.length > maxShownLines ? `; ${lines.length - maxShownLines} more` : '');

/** Checks a repository, and reports a storage that does not answer as a finding. */
const checkOrReport = async (parts: Checking, site: StorageSite, row: Row): Promise<void> => {
  try {
    await checkRepository(parts, site, row);
  } catch (error) {
    if (!isGitFailure(error)) throw error;
    const detail = `${row.full_path} (project ${row.id}) could not be checked (${error.message})`;
    parts.damage.add(
      fail(
        'repository',
        detail,
        `check the storage "${site.name}", then run "gantry doctor --thorough" again`,
      ),
    );
  }
};

/** Checks the repositories of a storage one after another, for git reads every object. */
const checkStorage = async (parts: Checking, site: StorageSite): Promise<void> => {
  let after = 0;
  for (;;) {
    const rows = await listRepositories(parts.store, site.name, after);
    for (const row of rows) {
      after = row.id;
      await checkOrReport(parts, site, row);
      parts.progress.advance();
    }
    if (rows.length < pageSize) return;
  }
};

export const checkRepositories = async (
  { config, store, instance }: { config: Config; store: Store; instance: string },
  progress: Progress,
): Promise<Finding[]> => {
  const damage = collectDamage('repositories');
  const git = openStoragesAsGuest(config, instance);
  try {
    const parts = { config, store, git, progress, damage };
    await Promise.all(config.repository_storages.map(async (site) => await checkStorage(parts, site)));
  } finally {
    await git.stop();
  }
  return damage.findings('every written repository is there, and git finds no damage');
};
