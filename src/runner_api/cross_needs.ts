/**
 * What a job takes of jobs of other pipelines, and of other projects: found when a runner takes it, and kept, so that it
 * may download what it was told of, whatever ends meanwhile.
 */
import type { Call, Platform } from '../access/call.ts';
import { may } from '../access/may.ts';
import type { Viewer } from '../access/viewer.ts';
import { hasArtifactAccess } from '../artifacts/artifact_access.ts';
import { type Values, expand } from '../ci_file/expand.ts';
import type { CrossNeed } from '../ci_file/plan_types.ts';
import type { Reader } from '../db/open.ts';
import { rootOf } from '../pipelines/downstream_limits.ts';
import { keepDependencies } from '../pipelines/cross_dependencies.ts';
import { namedIn } from '../pipelines/downstream_variables.ts';
import { factsOf } from '../pipelines/job_facts.ts';
import { variablesOf } from '../pipelines/job_variables.ts';
import { makerOf } from '../pipelines/rights.ts';
import { type Pipeline, jobConfigOf } from '../pipelines/store.ts';
import { type Project, anyProject } from '../projects/find.ts';
import { letsInJobsOf } from '../projects/job_reach.ts';
import type { Claimed } from './claim.ts';

type Given = { platform: Platform; pipeline: Pipeline; values: Values; viewer: Viewer | null };

/** `absent`: an optional one that is not there. */
type Found = { id: number } | 'absent' | 'missing';

/** Of a pipeline of the same project and tree, which is not the job's own. */
const inTree = async ({ platform, pipeline, values }: Given, need: CrossNeed): Promise<Found> => {
  const { db } = platform.store;
  const id = expand(need.pipeline ?? '', values).trim();
  if (!/^\d{1,15}$/.test(id) || Number(id) === pipeline.id) return 'missing';
  const other = await db
    .selectFrom('pipelines')
    .select(['id', 'root_id'])
    .where('id', '=', Number(id))
    .where('project_id', '=', pipeline.project_id)
    .executeTakeFirst();
  if (other === undefined || rootOf(other) !== rootOf(pipeline)) return 'missing';
  const job = await db
    .selectFrom('jobs')
    .select(['id', 'status'])
    .where('pipeline_id', '=', other.id)
    .where('name', '=', expand(need.job, values))
    .where('bridge', '=', 0)
    .where('retried', '=', 0)
    .executeTakeFirst();
  if (job === undefined) return need.optional === true ? 'absent' : 'missing';
  return job.status === 'success' ? job : 'missing';
};

const withoutRoles = (viewer: Viewer): Viewer => ({
  ...viewer,
  admin: false,
  projectLevels: new Map(),
  namespaceLevels: new Map(),
});

/** As whom the job reads the project; null: not at all. */
const readerOf = async ({ platform, pipeline, viewer }: Given, project: Project): Promise<Viewer | null> => {
  if (viewer === null) return null;
  if (await letsInJobsOf(platform.store.db, project, pipeline.project_id)) return viewer;
  return project.visibility === 'public' ? withoutRoles(viewer) : null;
};

/** The newest of its name that succeeded for a branch or tag. */
const newestOf = async (db: Reader, project_id: number, ref: string, name: string) =>
  await db
    .selectFrom('pipelines')
    .innerJoin('jobs', 'jobs.pipeline_id', 'pipelines.id')
    .select('jobs.id')
    .where('pipelines.project_id', '=', project_id)
    .where('pipelines.ref', '=', ref)
    .where('jobs.name', '=', name)
    .where('jobs.bridge', '=', 0)
    .where('jobs.retried', '=', 0)
    .where('jobs.status', '=', 'success')
    .orderBy('pipelines.id', 'desc')
    .orderBy('jobs.id', 'desc')
    .limit(1)
    .executeTakeFirst();

/** What is hidden is as what is missing. */
const inProject = async (given: Given, need: CrossNeed): Promise<Found> => {
  const { platform, values } = given;
  const { db } = platform.store;
  const [path, ref] = [need.project, need.ref].map((text) => expand(text ?? '', values));
  const project = await anyProject({ db }, (path ?? '').replace(/^\//, ''));
  const viewer = project === null ? null : await readerOf(given, project);
  if (project === null || viewer === null || !may(viewer, 'read_job', project)) return 'missing';
  const job = await newestOf(db, project.id, ref ?? '', expand(need.job, values));
  if (job === undefined) return 'missing';
  return (await hasArtifactAccess({ db, viewer }, project, job.id)) ? job : 'missing';
};

/** null: one of them is missing. */
const foundOf = async (given: Given, needs: readonly CrossNeed[]): Promise<number[] | null> => {
  const found = await Promise.all(
    needs.map(async (need) =>
      need.project === undefined ? await inTree(given, need) : await inProject(given, need),
    ),
  );
  if (found.includes('missing')) return null;
  return found.flatMap((one) => (typeof one === 'object' ? [one.id] : []));
};

/**
 * Of a job that a runner has just taken: why it cannot be run, in the words of a job's failure; null: all that it takes
 * of others is known.
 */
export const findCrossNeeds = async (
  { platform, baseUrl: base_url }: Pick<Call, 'platform' | 'baseUrl'>,
  { job, pipeline, token }: Claimed,
): Promise<string | null> => {
  const config = await jobConfigOf(platform.store.db, job);
  const needs = config.cross_needs.filter(({ artifacts }) => artifacts);
  if (needs.length === 0) return null;
  const facts = await factsOf(platform, { job, pipeline, issue: { base_url, token } });
  if (facts === null) throw new Error('the project of a job is gone');
  const user = job.user_id === null ? null : await makerOf(platform, job.user_id);
  const values = namedIn(await variablesOf({ ...facts, dependencies: [] }));
  const ids = await foundOf({ platform, pipeline, values, viewer: user?.viewer ?? null }, needs);
  if (ids === null) return 'missing_dependency_failure';
  await platform.store.write(async (tx) => await keepDependencies(tx, job.id, ids));
  return null;
};
