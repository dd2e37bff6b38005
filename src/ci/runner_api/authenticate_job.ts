/** Authenticates jobs by their tokens. A wrong token is 403, never 404, which makes the runner stop. */
import type { Selectable } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import { makeBatchLoader } from '../../platform/db/batch_loader.ts';
import type { JobsTable } from '../../platform/db/schema/ci.ts';
import { Failure, forbidden } from '../../platform/errors.ts';
import { hashJobToken } from '../jobs/token.ts';
import { type CachedJob, getJobCache, cacheJob } from './running_job_cache.ts';
import { heldStatuses } from '../../core/job_statuses.ts';

const columns = [
  'jobs.id',
  'jobs.project_id',
  'jobs.pipeline_id',
  'jobs.stage_position',
  'jobs.config_id',
  'jobs.status',
  'jobs.erased_at',
  'jobs.cancels_gracefully',
  'jobs.trace_key',
] as const;

type Column = (typeof columns)[number] extends `jobs.${infer Name}` ? Name : never;

export type RunningJob = Pick<Selectable<JobsTable>, Column>;

const byHashes = compiled((db, { hashes }: { hashes: string[] }, dialect) =>
  db
    .selectFrom('jobs')
    .innerJoin('projects', 'projects.id', 'jobs.project_id')
    .select(columns)
    .select(['jobs.token_hash', 'projects.deleted_at'])
    .where(dialect.oneOf('jobs.token_hash', hashes))
    .compile(),
);

/** Batched, since each chunk of each trace runs it. */
const byHash = makeBatchLoader(
  async (db, hashes: string[]) => await byHashes(db, { hashes }),
  ({ token_hash }) => token_hash ?? '',
);

const byId = compiled((db, { id }: { id: number }) =>
  db
    .selectFrom('jobs')
    .innerJoin('projects', 'projects.id', 'jobs.project_id')
    .select(columns)
    .select('projects.deleted_at')
    .where('jobs.id', '=', id)
    .compile(),
);

type JobLookup = RunningJob & { deleted_at: number | null };

/** Two spaces: the separator gitlab-runner expects. */
const makeForbidden = (reason: string, headers: Record<string, string> = {}): Failure =>
  new Failure('forbidden', { message: `403 Forbidden  - ${reason}` }, headers);

const getProblem = ({ deleted_at, erased_at, status }: JobLookup): Failure | null => {
  if (deleted_at !== null) return makeForbidden('Project has been deleted!');
  if (erased_at !== null) return makeForbidden('Job has been erased!');
  if (heldStatuses.includes(status)) return null;
  return makeForbidden('Job is not running', { 'job-status': status });
};

/** A token ends with its job. A process that still has the job in its cache reports to the runner how it ended. */
const makeRefusal = async (call: Call, id: number, token_hash: string): Promise<Failure> => {
  if (getJobCache(call.platform).jobs.get(token_hash)?.id !== id) return forbidden();
  const [job] = await byId(call.db, { id });
  return (job === undefined ? null : getProblem(job)) ?? forbidden();
};

/** Reads the job token from the body, else from the header. */
export const readJobToken = (call: Call, input: string | undefined): string => {
  const token = input === undefined || input === '' ? call.header('job-token') : input;
  if (token === undefined || token === '') throw forbidden();
  return token;
};

export type AuthenticatedJob = { job: RunningJob; token: string; memory: CachedJob };

const find = async (call: Call, token: string, id: number | null): Promise<AuthenticatedJob> => {
  const token_hash = hashJobToken(token);
  const job = await byHash(call.db, token_hash);
  if (job === undefined || (id !== null && job.id !== id)) throw await makeRefusal(call, id ?? 0, token_hash);
  const problem = getProblem(job);
  if (problem !== null) throw problem;
  return { job, token, memory: cacheJob(call.platform, token_hash, job.id) };
};

/**
 * Authenticates the job of this id by its own token, while it runs.
 * @throws Failure 403 with `Job-Status` if it has ended
 */
export const authenticateJob = async (
  call: Call,
  id: number,
  input: string | undefined,
): Promise<AuthenticatedJob> => {
  const signed = await find(call, readJobToken(call, input), id);
  getJobCache(call.platform).heard.add(id);
  return signed;
};

/**
 * Authenticates any running job by its token.
 * @throws Failure 403
 */
export const authenticateAnyJob = async (call: Call, input: string | undefined): Promise<AuthenticatedJob> =>
  await find(call, readJobToken(call, input), null);
