/** `artifacts: expose_as`: artifacts that pages link to, under a title from the configuration. */
import { ZipFailure } from '../../../../zip/format.ts';
import type { Call } from '../../../core/access/call.ts';
import type { Platform } from '../../../core/platform.ts';
import type { Artifacts } from '../../ci_file/config_types.ts';
import { isAvailableArtifact } from '../../jobs/artifact_availability.ts';
import { selectJobById, loadJobConfig, loadJobConfigs } from '../../pipelines/pipeline_rows.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { isForCaller } from '../artifact_access.ts';
import { readContent, loadDirectory } from './serve_archive_file.ts';
import { notFoundFailure } from '../failures.ts';
import type { Artifact } from '../store/artifacts.ts';
import { trimEnd } from '../../../platform/trim.ts';

/** Maximum exposed artifacts of one pipeline; the first jobs come first. */
const maxExposed = 10;
/** Maximum jobs of one pipeline that are searched. */
const maxJobs = 100;

export type Exposed = { job_id: number; job_name: string; text: string };

/**
 * Lists the exposed artifacts of a pipeline that still exist and that the caller may read. Retried jobs are left out.
 */
export const listExposed = async (call: Call, project: Project, pipelineId: number): Promise<Exposed[]> => {
  const { db, now } = call;
  const jobs = await db
    .selectFrom('jobs')
    .innerJoin('artifacts', 'artifacts.job_id', 'jobs.id')
    .innerJoin('job_configs', 'job_configs.id', 'jobs.config_id')
    .select(['jobs.id', 'jobs.name', 'jobs.config_id'])
    .where('jobs.pipeline_id', '=', pipelineId)
    .where('jobs.retried', '=', 0)
    .where('artifacts.file_type', '=', 'archive')
    // Few jobs expose artifacts: skip the configurations of the others.
    .where('job_configs.config', 'like', '%"expose_as":"%')
    .where(isAvailableArtifact(now))
    .orderBy('jobs.id')
    .limit(maxJobs)
    .execute();
  const configs = await loadJobConfigs(db, jobs);
  return jobs
    .flatMap(({ id, name, config_id }): Exposed[] => {
      const artifacts = configs.get(config_id)?.artifacts ?? null;
      const text = artifacts?.expose_as ?? null;
      if (text === null || !isForCaller(call, project, artifacts?.access ?? null)) return [];
      return [{ job_id: id, job_name: name, text }];
    })
    .slice(0, maxExposed);
};

/** Target of the link: a file, or a folder of the archive; `''` is the root. */
export type ExposedTarget = { kind: 'file' | 'folder'; path: string };

/** With more paths, the link points to the root of the archive. */
const maxPaths = 20;

/** Normalizes a path to the form that archives use. */
const normalizePath = (path: string): string => trimEnd(path.replace(/^(?:\.\/+)+/, ''), '/');

const isBelow = (name: string, path: string): boolean => name === path || name.startsWith(`${path}/`);

/** Loads the first two files that match the paths. */
const findFiles = async (
  platform: Platform,
  artifact: Artifact,
  paths: readonly string[],
): Promise<string[]> => {
  const files: string[] = [];
  const directory = await loadDirectory(readContent(platform, artifact), artifact);
  for (const { kind, name } of directory.items()) {
    if (kind === 'file' && paths.some((path) => isBelow(name, path))) files.push(name);
    if (files.length === 2) break;
  }
  return files;
};

/**
 * Chooses the only matching file, or else the folder that contains the matches.
 * @throws Failure 404 for an invalid archive
 */
const findTarget = async (
  platform: Platform,
  artifact: Artifact,
  { paths }: Pick<Artifacts, 'paths'>,
): Promise<ExposedTarget> => {
  if (artifact.file_format !== 'zip') throw notFoundFailure();
  const wholeArchive: ExposedTarget = { kind: 'folder', path: '' };
  const names = paths.map(normalizePath);
  // Only the runner knows the values of variables.
  if (names.length > maxPaths || names.some((name) => name.includes('$'))) return wholeArchive;
  try {
    const [first, second] = await findFiles(platform, artifact, names);
    if (first !== undefined && second === undefined) return { kind: 'file', path: first };
    const [only, ...others] = names;
    return first === undefined || only === undefined || others.length > 0
      ? wholeArchive
      : { kind: 'folder', path: only };
  } catch (error) {
    if (error instanceof ZipFailure) throw notFoundFailure();
    throw error;
  }
};

/**
 * Resolves what a job exposes.
 * @param artifact its archive, which the caller may read
 * @throws Failure 404 if the job exposes nothing
 */
export const resolveExposed = async (
  { db, platform }: Pick<Call, 'db' | 'platform'>,
  artifact: Artifact,
): Promise<ExposedTarget> => {
  const [job] = await selectJobById(db, { id: artifact.job_id });
  const artifacts = job === undefined ? null : (await loadJobConfig(db, job)).artifacts;
  if (artifacts === null || artifacts.expose_as === null) throw notFoundFailure();
  return await findTarget(platform, artifact, artifacts);
};
