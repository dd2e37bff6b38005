/** `artifacts: expose_as`: what jobs left for people to find, under a name that says what it is. */
import { ZipFailure } from '../../zip/format.ts';
import type { Call, Platform } from '../access/call.ts';
import type { Artifacts } from '../ci_file/plan_types.ts';
import { isKept } from '../jobs/kept_artifacts.ts';
import { jobById, jobConfigOf, jobConfigsOf } from '../pipelines/store.ts';
import type { Project } from '../projects/find.ts';
import { isForCaller } from './artifact_access.ts';
import { contentOf, directoryOf } from './browse.ts';
import { nothingThere } from './failures.ts';
import type { Artifact } from './store.ts';

/** Of one pipeline; those of the first jobs. */
const most = 10;
/** Jobs that are looked at for these. */
const mostJobs = 100;

export type Exposed = { job_id: number; job_name: string; text: string };

/** Of the jobs of a pipeline that count: what is still there, and is for the caller. */
export const exposedOf = async (call: Call, project: Project, pipelineId: number): Promise<Exposed[]> => {
  const { db, now } = call;
  const jobs = await db
    .selectFrom('jobs')
    .innerJoin('artifacts', 'artifacts.job_id', 'jobs.id')
    .innerJoin('job_configs', 'job_configs.id', 'jobs.config_id')
    .select(['jobs.id', 'jobs.name', 'jobs.config_id'])
    .where('jobs.pipeline_id', '=', pipelineId)
    .where('jobs.retried', '=', 0)
    .where('artifacts.file_type', '=', 'archive')
    // Few jobs have it: the others' texts are not read.
    .where('job_configs.config', 'like', '%"expose_as":"%')
    .where(isKept(now))
    .orderBy('jobs.id')
    .limit(mostJobs)
    .execute();
  const configs = await jobConfigsOf(db, jobs);
  return jobs
    .flatMap(({ id, name, config_id }): Exposed[] => {
      const artifacts = configs.get(config_id)?.artifacts ?? null;
      const text = artifacts?.expose_as ?? null;
      if (text === null || !isForCaller(call, project, artifacts?.access ?? null)) return [];
      return [{ job_id: id, job_name: name, text }];
    })
    .slice(0, most);
};

/** Where the name leads: to a file, or to a folder of the archive, `''` for all of it. */
export type ExposedPlace = { kind: 'file' | 'folder'; path: string };

/** More than this are not looked for one by one: the name leads to the archive. */
const mostPaths = 20;

/** As the archive has it. */
const nameOf = (path: string): string => path.replace(/^(?:\.\/+)+/, '').replace(/\/+$/, '');

const isBelow = (name: string, path: string): boolean => name === path || name.startsWith(`${path}/`);

/** The first two files of these paths. */
const filesOf = async (
  platform: Platform,
  artifact: Artifact,
  paths: readonly string[],
): Promise<string[]> => {
  const found: string[] = [];
  const directory = await directoryOf(contentOf(platform, artifact), artifact);
  for (const { kind, name } of directory.items()) {
    if (kind === 'file' && paths.some((path) => isBelow(name, path))) found.push(name);
    if (found.length === 2) break;
  }
  return found;
};

/**
 * To the file, where the paths have one alone; else to where they are.
 * @throws Failure 404 for an archive that is none
 */
const placeOf = async (
  platform: Platform,
  artifact: Artifact,
  { paths }: Pick<Artifacts, 'paths'>,
): Promise<ExposedPlace> => {
  if (artifact.file_format !== 'zip') throw nothingThere();
  const all: ExposedPlace = { kind: 'folder', path: '' };
  const names = paths.map(nameOf);
  // Who runs the job knows what its variables are, and nobody else.
  if (names.length > mostPaths || names.some((name) => name.includes('$'))) return all;
  try {
    const [first, second] = await filesOf(platform, artifact, names);
    if (first !== undefined && second === undefined) return { kind: 'file', path: first };
    const [only, ...others] = names;
    return first === undefined || only === undefined || others.length > 0
      ? all
      : { kind: 'folder', path: only };
  } catch (error) {
    if (error instanceof ZipFailure) throw nothingThere();
    throw error;
  }
};

/**
 * What a job exposes.
 * @param artifact its archive, that the caller may read
 * @throws Failure 404 where it exposes nothing
 */
export const exposedPlace = async (
  { db, platform }: Pick<Call, 'db' | 'platform'>,
  artifact: Artifact,
): Promise<ExposedPlace> => {
  const [job] = await jobById(db, { id: artifact.job_id });
  const artifacts = job === undefined ? null : (await jobConfigOf(db, job)).artifacts;
  if (artifacts === null || artifacts.expose_as === null) throw nothingThere();
  return await placeOf(platform, artifact, artifacts);
};
