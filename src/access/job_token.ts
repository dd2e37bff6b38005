/**
 * The token of a job that runs: for the time of its run it reads the job's project as the job's user does, and what
 * others have let that project read. Few endpoints let it change something, in its own project alone.
 */
import { sql } from 'kysely';
import { compiled } from '../db/compiled.ts';
import type { Reader } from '../db/open.ts';
import { unauthorized } from '../errors.ts';
import { heldStatuses } from '../job_statuses.ts';
import { type Credential, type SignedIn, namesVersion, userColumns } from './authenticate.ts';
import { levels } from './levels.ts';
import { hashToken } from './token_text.ts';
import { type Viewer, projectLevel, rolesText, today, viewerOf } from './viewer.ts';

/** By which a job's token is told from a user's password or token. */
export const jobTokenStart = 'glcbt-';

const jobByHash = compiled((db, { token_hash, day }: { token_hash: string; day: string }) =>
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

/** What a job may at most in a project: what its user may, and nothing but read. */
export const jobLevel = (user: Viewer, project: { id: number; namespace_id: number }): number =>
  Math.min(projectLevel(user, project), levels.reporter);

/** What the user sees of this one project: nothing of what he may elsewhere. */
const narrowed = (user: Viewer, project: { id: number; namespace_id: number }): Viewer => {
  const reached = new Map([[project.id, jobLevel(user, project)]]);
  return {
    ...user,
    admin: false,
    projectLevels: reached,
    namespaceLevels: new Map(),
    job: { project_id: project.id, levels: reached, user },
  };
};

/**
 * The same, where an endpoint lets jobs change something of their own project: there, and nowhere else, it may what its
 * user may.
 */
export const changingOwn = (
  viewer: Viewer,
  job: NonNullable<Viewer['job']>,
  project: { id: number; namespace_id: number },
): Viewer => {
  const levelsOf = new Map([[project.id, projectLevel(job.user, project)]]);
  return { ...viewer, projectLevels: levelsOf, job: { ...job, levels: levelsOf } };
};

/**
 * Who asks with the token of a job.
 * @throws Failure 401 for a token of none, or of one that has ended, or whose user is blocked
 */
export const signInJob = async (db: Reader, text: string, now: number): Promise<SignedIn> => {
  const [row] = await jobByHash(db, { token_hash: hashToken(text), day: today(now) });
  if (row === undefined) throw unauthorized();
  const { job_id, project_id, namespace_id, roles, names_version, ...user } = row;
  const credential: Credential = { kind: 'job', id: job_id, scopes: [], last_used_at: null };
  const viewer = narrowed(viewerOf(user, roles), { id: project_id, namespace_id });
  return { user: { ...user, admin: 0 }, credential, viewer, names_version };
};
