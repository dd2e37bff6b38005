/**
 * Resolves the `needs` of a job on other pipelines and projects. Runs when a runner takes the job. The result is
 * stored, so that the job can download exactly these artifacts.
 */
import type { Call } from '../../../core/access/call.ts';
import type { Platform } from '../../../core/platform.ts';
import { may } from '../../../core/access/may.ts';
import type { Viewer } from '../../../core/access/viewer.ts';
import { hasArtifactAccess } from '../../artifacts/artifact_access.ts';
import { type Values, expandVariables } from '../../ci_file/syntax/expand_variables.ts';
import type { CrossNeed } from '../../ci_file/config_types.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { getRootId } from '../../pipelines/downstream/limits.ts';
import { storeDependencies } from '../../pipelines/predefined_variables/cross_dependencies.ts';
import { toExpandableValues } from '../../pipelines/downstream/forwarded_variables.ts';
import { loadJobFacts } from '../../pipelines/predefined_variables/job_facts.ts';
import { getJobVariables } from '../../pipelines/predefined_variables/job_variables.ts';
import { loadCreator } from '../../pipelines/creation/creation_rights.ts';
import { type Pipeline, loadJobConfig } from '../../pipelines/pipeline_rows.ts';
import { type Project, anyProject } from '../../../projects/projects/find.ts';
import { admitsJobs } from '../../../projects/projects/job_token_access.ts';
import type { Claimed } from './claim_jobs.ts';

type NeedContext = { platform: Platform; pipeline: Pipeline; values: Values; viewer: Viewer | null };

/** `absent`: an optional job that does not exist. */
type ResolvedNeed = { id: number } | 'absent' | 'missing';

/** Finds a job in another pipeline of the same project and the same pipeline tree. */
const findInTree = async (
  { platform, pipeline, values }: NeedContext,
  need: CrossNeed,
): Promise<ResolvedNeed> => {
  const { db } = platform.store;
  const id = expandVariables(need.pipeline ?? '', values).trim();
  if (!/^\d{1,15}$/.test(id) || Number(id) === pipeline.id) return 'missing';
  const namedPipeline = await db
    .selectFrom('pipelines')
    .select(['id', 'root_id'])
    .where('id', '=', Number(id))
    .where('project_id', '=', pipeline.project_id)
    .executeTakeFirst();
  if (namedPipeline === undefined || getRootId(namedPipeline) !== getRootId(pipeline)) return 'missing';
  const job = await db
    .selectFrom('jobs')
    .select(['id', 'status'])
    .where('pipeline_id', '=', namedPipeline.id)
    .where('name', '=', expandVariables(need.job, values))
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

/** Returns the viewer with which the job reads the project; null if it may not. */
const makeProjectViewer = async (
  { platform, pipeline, viewer }: NeedContext,
  project: Project,
): Promise<Viewer | null> => {
  if (viewer === null) return null;
  if (await admitsJobs(platform.store.db, project, pipeline.project_id)) return viewer;
  return project.visibility === 'public' ? withoutRoles(viewer) : null;
};

/** Finds the newest successful job of a name on a branch or tag. */
const findNewest = async (db: Reader, project_id: number, ref: string, name: string) =>
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

/** Finds a job in another project. A hidden project counts as missing. */
const findInProject = async (input: NeedContext, need: CrossNeed): Promise<ResolvedNeed> => {
  const { platform, values } = input;
  const { db } = platform.store;
  const [path, ref] = [need.project, need.ref].map((text) => expandVariables(text ?? '', values));
  const project = await anyProject({ db }, (path ?? '').replace(/^\//, ''));
  const viewer = project === null ? null : await makeProjectViewer(input, project);
  if (project === null || viewer === null || !may(viewer, 'read_job', project)) return 'missing';
  const job = await findNewest(db, project.id, ref ?? '', expandVariables(need.job, values));
  if (job === undefined) return 'missing';
  return (await hasArtifactAccess({ db, viewer }, project, job.id)) ? job : 'missing';
};

/** Returns null if one of them is missing. */
const resolveAll = async (input: NeedContext, needs: readonly CrossNeed[]): Promise<number[] | null> => {
  const resolved = await Promise.all(
    needs.map(async (need) =>
      need.project === undefined ? await findInTree(input, need) : await findInProject(input, need),
    ),
  );
  if (resolved.includes('missing')) return null;
  return resolved.flatMap((one) => (typeof one === 'object' ? [one.id] : []));
};

/**
 * Resolves and stores the cross-pipeline needs of a job that a runner has just taken. Returns a failure reason where
 * one is missing, else null.
 */
export const resolveCrossNeeds = async (
  { platform, baseUrl: base_url }: Pick<Call, 'platform' | 'baseUrl'>,
  { job, pipeline, token }: Claimed,
): Promise<string | null> => {
  const config = await loadJobConfig(platform.store.db, job);
  const needs = config.cross_needs.filter(({ artifacts }) => artifacts);
  if (needs.length === 0) return null;
  const facts = await loadJobFacts(platform, { job, pipeline, issue: { base_url, token } });
  if (facts === null) throw new Error('the project of a job is gone');
  const user = job.user_id === null ? null : await loadCreator(platform, job.user_id);
  const values = toExpandableValues(await getJobVariables({ ...facts, dependencies: [] }));
  const ids = await resolveAll({ platform, pipeline, values, viewer: user?.viewer ?? null }, needs);
  if (ids === null) return 'missing_dependency_failure';
  await platform.store.write(async (tx) => await storeDependencies(tx, job.id, ids));
  return null;
};
