/** Jobs sign in with their tokens. A wrong one is 403, never 404: it tells the runner to stop. */
import type { Selectable } from 'kysely';
import type { Call } from '../access/call.ts';
import { compiled } from '../db/compiled.ts';
import { gathered } from '../db/gathered.ts';
import type { JobsTable } from '../db/schema_ci.ts';
import { Failure, forbidden } from '../errors.ts';
import { hashJobToken } from '../jobs/token.ts';
import { type Remembered, memoryOf, remember } from './memory.ts';
import { heldStatuses } from '../job_statuses.ts';

const columns = [
  'jobs.id',
  'jobs.project_id',
  'jobs.pipeline_id',
  'jobs.stage_position',
  'jobs.config_id',
  'jobs.status',
  'jobs.erased_at',
  'jobs.cancels_gracefully',
] as const;

type Column = (typeof columns)[number] extends `jobs.${infer Name}` ? Name : never;

export type RunningJob = Pick<Selectable<JobsTable>, Column>;

const byHashes = compiled((db, { hashes }: { hashes: string[] }, words) =>
  db
    .selectFrom('jobs')
    .innerJoin('projects', 'projects.id', 'jobs.project_id')
    .select(columns)
    .select(['jobs.token_hash', 'projects.deleted_at'])
    .where(words.oneOf('jobs.token_hash', hashes))
    .compile(),
);

/** Each piece of each log asks this. */
const byHash = gathered(
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

type Found = RunningJob & { deleted_at: number | null };

/** Two blanks, as runners have always been told. */
const refused = (reason: string, headers: Record<string, string> = {}): Failure =>
  new Failure('forbidden', { message: `403 Forbidden  - ${reason}` }, headers);

const problemOf = ({ deleted_at, erased_at, status }: Found): Failure | null => {
  if (deleted_at !== null) return refused('Project has been deleted!');
  if (erased_at !== null) return refused('Job has been erased!');
  if (heldStatuses.includes(status)) return null;
  return refused('Job is not running', { 'job-status': status });
};

/** A token ends with its job, whose runner may still be told how that was: by the process that knew it. */
const refusalOf = async (call: Call, id: number, token_hash: string): Promise<Failure> => {
  if (memoryOf(call.platform).jobs.get(token_hash)?.id !== id) return forbidden();
  const [job] = await byId(call.db, { id });
  return (job === undefined ? null : problemOf(job)) ?? forbidden();
};

/** What a job signs in with: in the body, else in the header. */
export const jobTokenOf = (call: Call, given: string | undefined): string => {
  const token = given === undefined || given === '' ? call.header('job-token') : given;
  if (token === undefined || token === '') throw forbidden();
  return token;
};

export type SignedJob = { job: RunningJob; token: string; memory: Remembered };

const find = async (call: Call, token: string, id: number | null): Promise<SignedJob> => {
  const token_hash = hashJobToken(token);
  const job = await byHash(call.db, token_hash);
  if (job === undefined || (id !== null && job.id !== id)) throw await refusalOf(call, id ?? 0, token_hash);
  const problem = problemOf(job);
  if (problem !== null) throw problem;
  return { job, token, memory: remember(call.platform, token_hash, job.id) };
};

/**
 * The job of this id, by its own token, while it runs.
 * @throws Failure 403 with `Job-Status` where it has ended
 */
export const signInJob = async (call: Call, id: number, given: string | undefined): Promise<SignedJob> => {
  const signed = await find(call, jobTokenOf(call, given), id);
  memoryOf(call.platform).heard.add(id);
  return signed;
};

/** The job that runs with this token, whatever it asks for. @throws Failure 403 */
export const signInAnyJob = async (call: Call, given: string | undefined): Promise<SignedJob> =>
  await find(call, jobTokenOf(call, given), null);
