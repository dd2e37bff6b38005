/**
 * Authenticates running jobs. During its run, a job reads its own project as its user does, and other projects that
 * admit its project. Few endpoints let it write, and only to its own project.
 */
import { sql } from 'kysely';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { unauthorized } from '../../../platform/errors.ts';
import { heldStatuses } from '../../job_statuses.ts';
import { type Credential, type SignedIn, namesVersion, userColumns } from './authenticate.ts';
import { levels } from '../levels.ts';
import { hashToken } from './token_text.ts';
import { type Viewer, getProjectLevel, rolesText, today, toViewer } from '../viewer.ts';

/** Prefix that distinguishes job tokens from passwords and tokens of users. */
export const jobTokenPrefix = 'glcbt-';

const selectJob = compiled((db, { token_hash, day }: { token_hash: string; day: string }) =>
  db
    .selectFrom('jobs')
    .innerJoin('users', 'users.id', 'jobs.user_id')
    .innerJoin('projects', 'projects.id', 'jobs.project_id')
    .select(userColumns)
    .select(['jobs.id as job_id', 'jobs.project_id', 'projects.namespace_id'])
    .select(rolesText(sql`users.id`, day).as('roles'))
    .select(namesVersion.as('names_version'))
    .where('jobs.token_hash', '=', token_hash)
    .where('jobs.status', 'in', heldStatuses)
    .where('users.state', '=', 'active')
    .where('projects.deleted_at', 'is', null)
    .compile(),
);

/** Returns the role of a job in a project: its user's role, for reading only. */
export const getJobLevel = (user: Viewer, project: { id: number; namespace_id: number }): number =>
  Math.min(getProjectLevel(user, project), levels.reporter);

/** Narrows a user's viewer to their role in one project. */
const narrowToProject = (user: Viewer, project: { id: number; namespace_id: number }): Viewer => {
  const reached = new Map([[project.id, getJobLevel(user, project)]]);
  return {
    ...user,
    admin: false,
    projectLevels: reached,
    namespaceLevels: new Map(),
    job: { project_id: project.id, levels: reached, user },
  };
};

/** Gives a job its user's permissions in its own project, for endpoints that let jobs change it. */
export const allowOwnProjectChanges = (
  viewer: Viewer,
  job: NonNullable<Viewer['job']>,
  project: { id: number; namespace_id: number },
): Viewer => {
  const projectLevels = new Map([[project.id, getProjectLevel(job.user, project)]]);
  return { ...viewer, projectLevels: projectLevels, job: { ...job, levels: projectLevels } };
};

/**
 * Authenticates the token of a job.
 * @throws Failure 401 for an unknown token, a job that has ended, or a blocked user
 */
export const authenticateJobToken = async (db: Reader, text: string, now: number): Promise<SignedIn> => {
  const [row] = await selectJob(db, { token_hash: hashToken(text), day: today(now) });
  if (row === undefined) throw unauthorized();
  const { job_id, project_id, namespace_id, roles, names_version, ...user } = row;
  const credential: Credential = { kind: 'job', id: job_id, scopes: [], last_used_at: null };
  const viewer = narrowToProject(toViewer(user, roles), { id: project_id, namespace_id });
  return { user: { ...user, admin: 0 }, credential, viewer, names_version };
};
