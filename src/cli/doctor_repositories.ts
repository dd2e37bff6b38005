/** Checks every repository that refs were written to: whether it is there, and what `git fsck` finds in it. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Store } from '../db/open.ts';
import { isGitFailure } from '../git/failure.ts';
import { type RepositoryPlace, placeColumns } from '../git/repository.ts';
import { type GitStorages, type StorageSite, localRoot, openGit, repositoryPath } from '../git/storages.ts';
import { type Damages, collectDamages } from './doctor_damages.ts';
import { type Finding, fail } from './doctor_finding.ts';
import type { Progress } from './progress.ts';

type Row = RepositoryPlace & { full_path: string };

const pageSize = 200;
/** Seconds for one repository. */
const patience = 3_600;
/** Lines of git that are shown. */
const shownProblems = 5;

const written = ({ db }: Store) =>
  db.selectFrom('projects').where('repository_written', '=', 1).where('deleted_at', 'is', null);

export const countRepositories = async (store: Store): Promise<number> => {
  const { count } = await written(store)
    .select((of) => of.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
};

const listRepositories = async (store: Store, storage: string, after: number): Promise<Row[]> =>
  await written(store)
    .select(['id', 'full_path', ...placeColumns])
    .where('repository_storage', '=', storage)
    .where('id', '>', after)
    .orderBy('id')
    .limit(pageSize)
    .execute();

/** Whether the project still has its repository there: it may have been deleted or moved meanwhile. */
const isCurrent = async (store: Store, { id, repository_storage }: Row): Promise<boolean> => {
  const row = await written(store).select('repository_storage').where('id', '=', id).executeTakeFirst();
  return row?.repository_storage === repository_storage;
};

/** What is wrong with one; null: nothing. A complaint counts once it comes again: git may have repacked meanwhile. */
const findProblem = async (git: GitStorages, row: Row): Promise<'missing' | string[] | null> => {
  const repository = git.repository(row);
  const options = { seconds: patience };
  const { exists } = await repository.ask('repository.exists', {}, undefined, options);
  if (!exists) return 'missing';
  const first = await repository.ask('repository.check', {}, undefined, options);
  if (first.problems.length === 0) return null;
  const { problems } = await repository.ask('repository.check', {}, undefined, options);
  return problems.length === 0 ? null : problems;
};

type Checking = { config: Config; store: Store; git: GitStorages; progress: Progress; damages: Damages };

const checkRepository = async (parts: Checking, site: StorageSite, row: Row): Promise<void> => {
  const { config, store, git, damages } = parts;
  const problem = await findProblem(git, row);
  if (problem === null || !(await isCurrent(store, row))) return;
  const path = repositoryPath(row);
  const place =
    site.address === null ? join(localRoot(config.data, site), path) : `${path} in "${site.name}"`;
  const name = `${row.full_path} (project ${row.id})`;
  const finding =
    problem === 'missing'
      ? fail(
          'repository',
          `${name} is missing: ${place}`,
          'restore it from a backup: until then git and the API answer 503',
        )
      : fail(
          'repository',
          `${name} is damaged, ${place}: ${problems(problem)}`,
          'restore it from a backup, or fetch the objects into it from a complete clone; then run "gantry doctor --thorough" again',
        );
  damages.add(finding);
};

const problems = (lines: readonly string[]): string =>
  lines.slice(0, shownProblems).join('; ') +
  (lines.length > shownProblems ? `; ${lines.length - shownProblems} more` : '');

/** A repository whose storage does not answer is a finding, too. */
const checkOrReport = async (parts: Checking, site: StorageSite, row: Row): Promise<void> => {
  try {
    await checkRepository(parts, site, row);
  } catch (error) {
    if (!isGitFailure(error)) throw error;
    const detail = `${row.full_path} (project ${row.id}) could not be checked (${error.message})`;
    parts.damages.add(fail('repository', detail, `check the storage "${site.name}", then run it again`));
  }
};

/** One repository after another: git reads each object of each. */
const checkStorage = async (parts: Checking, site: StorageSite): Promise<void> => {
  let after = 0;
  for (;;) {
    // oxlint-disable no-await-in-loop -- one after another
    const rows = await listRepositories(parts.store, site.name, after);
    for (const row of rows) {
      after = row.id;
      await checkOrReport(parts, site, row);
      parts.progress.advance();
    }
    if (rows.length < pageSize) return;
    // oxlint-enable no-await-in-loop
  }
};

/** @param instance of the database: other instances' storages do not answer */
export const checkRepositories = async (
  { config, store, instance }: { config: Config; store: Store; instance: string },
  progress: Progress,
): Promise<Finding[]> => {
  const damages = collectDamages('repositories');
  const git = openGit({
    storages: config.repository_storages,
    data: config.data,
    secret: config.gitd_secret,
    instance,
    readOnly: true,
    random: randomBytes,
    log: () => undefined,
  });
  try {
    const parts = { config, store, git, progress, damages };
    await Promise.all(config.repository_storages.map(async (site) => await checkStorage(parts, site)));
  } finally {
    await git.stop();
  }
  return damages.findings('every written repository is there, and git finds no damage');
};
