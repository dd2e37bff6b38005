/**
 * Runs imports. The project stores the progress of its import, and accepts no other change of its repository meanwhile.
 * Each step may be repeated after the process died. Each attempt receives into a separate location, so that an attempt
 * that continues after its lease ended changes nothing that a later attempt or users have written.
 */
import { type Selectable, sql } from 'kysely';
import type { Platform } from '../../../core/platform.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import { getOutgoingRules } from '../../../core/settings/setting_effects.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import type { ProjectImportsTable } from '../../../platform/db/schema/projects.ts';
import { unavailable } from '../../../platform/errors.ts';
import type { RepositoryLocation } from '../../../platform/git/repository.ts';
import { generateRepositoryPath, getRepositoryPath } from '../../../platform/git/storages.ts';
import { makeOutageCheck } from '../../../platform/queue/detect_outage.ts';
import { enqueueCodeIndex } from '../../../projects/projects/enqueue_code_index.ts';
import { type Project, loadProject } from '../../../projects/projects/find.ts';
import { unsealCredentials } from '../../../projects/projects/imports/import_source.ts';
import { isBeingImported } from '../../../projects/projects/imports/schedule_import.ts';
import { adoptDefaultBranch } from '../branches/adopt_default_branch.ts';
import { getRepository } from '../get_repository.ts';
import { enqueueCopyRemoval } from '../moves/move_repository.ts';
import { keepInPlace } from '../moves/hold_repository.ts';
import { getQuota } from '../refs/transfer_access.ts';
import { ImportFailure } from './import_failure.ts';
import { type Received, receiveRepository } from './receive_repository.ts';

/** Attempts that may end with their process. */
const maxAttempts = 3;
const megabyte = 2 ** 20;

const internalText = 'An error of this service ended the import. See its log.';

type Row = Selectable<ProjectImportsTable>;
/**
 * @property project with the location that this attempt receives into
 * @property row with this attempt counted. The number never repeats: it identifies the attempt.
 */
type Import = { project: Project; row: Row };

/** The import is over, or another process started an attempt after the lease of this attempt ended. */
class Overtaken extends Error {}

/** @throws Overtaken unless this is the latest attempt of an import that is not over */
const requireLatestAttempt = async (db: Reader, { project, row }: Import): Promise<void> => {
  const latest = await db
    .selectFrom('project_imports')
    .innerJoin('projects', 'projects.id', 'project_imports.project_id')
    .select(['attempts', 'import_status', 'deleted_at'])
    .where('project_id', '=', project.id)
    .executeTakeFirst();
  const isOpen = latest !== undefined && latest.deleted_at === null && isBeingImported(latest);
  if (!isOpen || latest.attempts !== row.attempts) throw new Overtaken();
};

/** Locks a project whose import is not over; null if there is none. */
const lockOpen = async ({ db, dialect }: Tx, projectId: number) => {
  const project = await db
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', projectId)
    .modifyEnd(dialect.forUpdate)
    .executeTakeFirst();
  return project === undefined || project.deleted_at !== null || !isBeingImported(project) ? null : project;
};

/** Like `requireLatestAttempt`, and locks the attempt until the transaction ends. */
const lockLatestAttempt = async (tx: Tx, imported: Import): Promise<void> => {
  await lockOpen(tx, imported.project.id);
  await requireLatestAttempt(tx.db, imported);
};

/** Gives a project an empty repository in another location, and removes its current repository. */
const replaceRepository = async (tx: Tx, project: RepositoryLocation): Promise<string> => {
  const path = generateRepositoryPath();
  await tx.db.updateTable('projects').set({ repository_path: path }).where('id', '=', project.id).execute();
  await enqueueCopyRemoval(tx, { storage: project.repository_storage, path: getRepositoryPath(project) });
  return path;
};

/** Counts the attempt and gives it a place; null if the import is over, or the project is gone. */
const begin = async (platform: Platform, projectId: number): Promise<Import | null> =>
  await platform.store.write(async (tx) => {
    const locked = await lockOpen(tx, projectId);
    const project = locked === null ? null : await loadProject(tx.db, projectId);
    const row = await tx.db
      .selectFrom('project_imports')
      .selectAll()
      .where('project_id', '=', projectId)
      .executeTakeFirst();
    if (project === null || row === undefined) return null;
    await tx.db
      .updateTable('projects')
      .set({ import_status: 'started' })
      .where('id', '=', projectId)
      .execute();
    const attempts = row.attempts + 1;
    await tx.db
      .updateTable('project_imports')
      .set({ attempts, updated_at: tx.now })
      .where('project_id', '=', projectId)
      .execute();
    const isFirst = row.attempts === 0;
    const repository_path = isFirst ? project.repository_path : await replaceRepository(tx, project);
    return { project: { ...project, repository_path }, row: { ...row, attempts } };
  });

/** Notes that an attempt does not count towards giving up. */
const excuse = async ({ store }: Platform, { project_id }: Row): Promise<void> =>
  await store.write(
    async ({ db, now }) =>
      void (await db
        .updateTable('project_imports')
        .set({ excused_attempts: sql`excused_attempts + 1`, updated_at: now })
        .where('project_id', '=', project_id)
        .execute()),
  );

/** Sets the final status, and forgets the credentials. */
const end = async (tx: Tx, projectId: number, error: string | null): Promise<void> => {
  await tx.db
    .updateTable('projects')
    .set({ import_status: error === null ? 'finished' : 'failed' })
    .where('id', '=', projectId)
    .execute();
  await tx.db
    .updateTable('project_imports')
    .set({ error, sealed_credentials: null, updated_at: tx.now })
    .where('project_id', '=', projectId)
    .execute();
};

const recordEnd = async (tx: Tx, { project_id, user_id }: Row, isFinished: boolean): Promise<void> =>
  await recordEvent(tx, user_id === null ? null : { user: { id: user_id }, sudo_by_id: null }, {
    kind: isFinished ? 'project.imported' : 'project.import_failed',
    project_id,
    target_type: 'Project',
    target_id: project_id,
  });

/** Makes the code visible, as the end of a push does, without events of refs and without pipelines. */
const finish = async (
  platform: Platform,
  imported: Import,
  { hasRefs, defaultBranch }: Received,
): Promise<void> =>
  await platform.store.write(async (tx) => {
    const { id } = imported.project;
    await lockLatestAttempt(tx, imported);
    // Data received before a move is not at the repository's current location.
    await keepInPlace(tx, imported.project);
    if (hasRefs)
      await tx.db.updateTable('projects').set({ repository_written: 1 }).where('id', '=', id).execute();
    if (defaultBranch !== null) {
      await adoptDefaultBranch(tx, platform, id, defaultBranch);
      await enqueueCodeIndex(tx, id);
    }
    await end(tx, id, null);
    await recordEnd(tx, imported.row, true);
  });

/** Ends an import without success, with an empty repository as before. */
const fail = async ({ store }: Platform, imported: Import, why: string): Promise<void> => {
  const { project, row } = imported;
  await store.write(async (tx) => {
    await lockLatestAttempt(tx, imported);
    await keepInPlace(tx, project);
    await replaceRepository(tx, project);
    await end(tx, project.id, why);
    await recordEnd(tx, row, false);
  });
};

/** Returns the smaller of the limits of imports and of repositories; null if neither is set. */
const getMaxBytes = ({ config }: Platform): number | null => {
  const { repository_bytes } = getQuota(config);
  const limits = [config.import_limit === 0 ? null : config.import_limit * megabyte, repository_bytes];
  const set = limits.filter((limit) => limit !== null);
  return set.length === 0 ? null : Math.min(...set);
};

const receive = async (platform: Platform, imported: Import, stopping: AbortSignal): Promise<Received> => {
  const { project, row } = imported;
  const { import_timeout: minutes } = platform.config;
  const tooLong = new AbortController();
  const why = new ImportFailure(`The import took longer than ${minutes} minutes.`);
  const timer = setTimeout(() => tooLong.abort(why), minutes * 60_000).unref();
  const repository = getRepository(platform, project);
  const source = { url: row.url, credentials: unsealCredentials(platform, row.sealed_credentials) };
  try {
    return await receiveRepository(repository, source, {
      rules: getOutgoingRules(platform.settings.current),
      signal: AbortSignal.any([stopping, tooLong.signal]),
      maxBytes: getMaxBytes(platform),
      // The signal comes first, and says why.
      seconds: minutes * 60 + 60,
      confirm: async () => await requireLatestAttempt(platform.store.db, imported),
    });
  } finally {
    clearTimeout(timer);
  }
};

/** Removes what an attempt has received, unless the project names it. */
const removeUnlessNamed = async (platform: Platform, project: Project): Promise<void> => {
  const latest = await loadProject(platform.store.db, project.id);
  const isNamed = latest !== null && getRepositoryPath(latest) === getRepositoryPath(project);
  if (!isNamed) await getRepository(platform, project).ask('repository.remove', {});
};

/** Ends or postpones an import whose attempt failed. @throws Overtaken; the error of an outage, for another attempt */
const handleFailure = async (platform: Platform, imported: Import, error: unknown): Promise<void> => {
  if (error instanceof ImportFailure) return await fail(platform, imported, error.message);
  const { id } = imported.project;
  if (makeOutageCheck(platform.store)(error)) {
    await excuse(platform, imported.row);
    throw error;
  }
  platform.log.error({ err: error, project_id: id }, 'an import failed');
  await fail(platform, imported, internalText);
};

const runAttempt = async (platform: Platform, imported: Import, stopping: AbortSignal): Promise<void> => {
  const { attempts, excused_attempts } = imported.row;
  if (attempts - excused_attempts > maxAttempts)
    return await fail(platform, imported, 'The service ended during each attempt.');
  try {
    await finish(platform, imported, await receive(platform, imported, stopping));
  } catch (error) {
    if (error instanceof Overtaken) throw error;
    await handleFailure(platform, imported, stopping.aborted ? unavailable() : error);
  }
};

/**
 * Imports the repository of a project. Runs again after an outage, and after the process died.
 * @param stopping aborted when the service stops
 */
export const runImport = async (
  platform: Platform,
  projectId: number,
  stopping: AbortSignal = new AbortController().signal,
): Promise<void> => {
  const imported = await begin(platform, projectId);
  if (imported === null) return;
  try {
    await runAttempt(platform, imported, stopping);
  } catch (error) {
    if (!(error instanceof Overtaken)) throw error;
    platform.log.info({ project_id: projectId }, 'import attempt superseded');
  }
  await removeUnlessNamed(platform, imported.project);
};
