/** Schedules imports of repositories. Background work carries them out (`code/repository/imports`). */
import { sql } from 'kysely';
import { type Call, requireUser } from '../../../core/access/call.ts';
import type { Platform } from '../../../core/platform.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { requireRecordQuota } from '../../../platform/db/quota.ts';
import type { ImportStatus } from '../../../platform/db/schema/projects.ts';
import { conflict, notFound } from '../../../platform/errors.ts';
import { enqueue } from '../../../platform/queue/enqueue.ts';
import type { Project } from '../find.ts';
import { type ImportSource, sealCredentials } from './import_source.ts';

export const importWork = 'repository.import';

/** Maximum unfinished imports of one user. */
const maxOpen = 20;

const openStatuses: readonly ImportStatus[] = ['scheduled', 'started'];

/** Returns whether an import of the project waits or runs. */
export const isBeingImported = ({ import_status }: { import_status: ImportStatus }): boolean =>
  openStatuses.includes(import_status);

type CodeFacts = Pick<Project, 'default_branch' | 'repository_written' | 'forked_from_project_id'>;

/** Returns whether nothing was ever written to the repository, nor is copied to it. */
const hasNoCode = ({ default_branch, repository_written, forked_from_project_id }: CodeFacts): boolean =>
  default_branch === null && repository_written === 0 && forked_from_project_id === null;

/** Returns whether a repository can be imported into the project. */
export const canImportInto = (project: CodeFacts & Pick<Project, 'archived' | 'import_status'>): boolean =>
  project.archived === 0 && !isBeingImported(project) && hasNoCode(project);

/**
 * Schedules the import of a project whose repository is empty and not being written to.
 * @throws Failure 400 if the user has too many unfinished imports
 */
export const scheduleImport = async (
  tx: Tx,
  platform: Pick<Platform, 'secrets'>,
  { project_id, user_id, source }: { project_id: number; user_id: number; source: ImportSource },
): Promise<void> => {
  const open = tx.db
    .selectFrom('project_imports')
    .innerJoin('projects', 'projects.id', 'project_imports.project_id')
    .where('user_id', '=', user_id)
    .where('import_status', 'in', openStatuses)
    .where('deleted_at', 'is', null);
  await requireRecordQuota(open, { what: 'unfinished imports', most: maxOpen });
  await tx.db
    .updateTable('projects')
    .set({ import_status: 'scheduled' })
    .where('id', '=', project_id)
    .execute();
  const columns = {
    user_id,
    url: source.url,
    sealed_credentials: sealCredentials(platform, source.credentials),
    error: null,
    created_at: tx.now,
    updated_at: tx.now,
  };
  await tx.db
    .insertInto('project_imports')
    .values({ project_id, ...columns })
    .onConflict((clash) =>
      clash.column('project_id').doUpdateSet({ ...columns, excused_attempts: sql`project_imports.attempts` }),
    )
    .execute();
  // One import of a user at a time, so that the others have their turn.
  const options = { unique_key: `${importWork} ${project_id}`, turn: `import of user ${user_id}` };
  await enqueue(tx, importWork, { project_id }, options);
};

/** Returns whether a change of refs has started but is not complete. */
const isBeingWritten = async ({ db }: Tx, projectId: number): Promise<boolean> => {
  const query = db.selectFrom('git_operations').select('id').where('project_id', '=', projectId).limit(1);
  return (await query.executeTakeFirst()) !== undefined;
};

/**
 * Imports a repository into an existing, empty project.
 * @throws Failure 409 if the project is archived, or the repository is not empty or being imported already
 */
export const importInto = async (call: Call, { id }: Project, source: ImportSource): Promise<void> => {
  const user_id = requireUser(call).id;
  await call.write(async (tx) => {
    // Waits for transactions that begin a change of refs (`holdRepository`).
    const project = await tx.db
      .selectFrom('projects')
      .selectAll()
      .where('id', '=', id)
      .modifyEnd(tx.dialect.forExclusive)
      .executeTakeFirst();
    if (project === undefined || project.deleted_at !== null) throw notFound('Project');
    if (project.archived === 1) throw conflict('The project is archived.');
    if (isBeingImported(project)) throw conflict('The repository is being imported already.');
    if (!hasNoCode(project)) throw conflict('The repository is not empty.');
    if (await isBeingWritten(tx, id)) throw conflict('The repository is being written to. Try again later.');
    await scheduleImport(tx, call.platform, { project_id: id, user_id, source });
  });
};
