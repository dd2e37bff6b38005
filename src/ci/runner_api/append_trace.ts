/** `PATCH /jobs/:id/trace`: appends a chunk to the trace. */
import type { Call } from '../../core/access/call.ts';
import { Failure } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/endpoint.ts';
import { readBody } from '../../platform/http/body/read_body.ts';
import { failJob } from '../pipelines/processing/job_transitions.ts';
import { loadVariablesOfJob } from '../pipelines/predefined_variables/job_variables.ts';
import { markDebugTrace } from './debug_trace.ts';
import { endWithStoredTrace } from './end_with_stored_trace.ts';
import { answerHeaders, settleCancelled } from './job_status_headers.ts';
import { collectSecrets } from './payload/build_payload.ts';
import { type AuthenticatedJob, authenticateJob } from './authenticate_job.ts';

/** Largest chunk in bytes: runners send a MiB, and the whole rest after a refused chunk. */
const maxChunk = 16 * 1024 * 1024;
/** Largest trace in bytes: runners stop at 4 MiB by default. */
const maxTrace = 100 * 1024 * 1024;

/** Loads the values to mask in the trace. Cached since the claim, unless another process made it. */
export const loadSecrets = async (
  call: Call,
  { job, token, memory }: AuthenticatedJob,
): Promise<string[]> => {
  if (memory.secrets !== null) return memory.secrets;
  const input = { base_url: call.baseUrl, token };
  memory.secrets = collectSecrets([await loadVariablesOfJob(call.platform, job.id, input)], token);
  return memory.secrets;
};

const badRange = (text: string): Failure => new Failure('bad_request', { message: `400 ${text}` });

/** Parses the offset at which a chunk starts. Old runners send an exclusive end, newer runners an inclusive end. */
const parseStart = (header: string | undefined, length: number): number => {
  if (header === undefined) throw badRange('Missing header Content-Range');
  const [, first, last] = /^(?:bytes )?(\d{1,15})-(\d{1,15})?$/.exec(header.trim()) ?? [];
  const start = Number(first);
  const isSound =
    first !== undefined &&
    (length === 0 ||
      last === undefined ||
      Number(last) === start + length ||
      Number(last) === start + length - 1);
  if (!isSound) throw badRange('Invalid header Content-Range');
  return start;
};

const append = async (call: Call, signed: AuthenticatedJob, start: number, piece: Buffer) => {
  const { traces } = call.platform;
  const { job, memory } = signed;
  const secrets = await loadSecrets(call, signed);
  const appended = await traces.append(job, start, piece, secrets);
  // Asked to resend everything, the runner starts over: replace the stored trace, which was wrong.
  if (!appended.accepted && start === 0 && memory.isRestarting) {
    memory.isRestarting = false;
    await traces.restart(job);
    return await traces.append(job, start, piece, secrets);
  }
  return appended;
};

/**
 * Checks that the job still exists. A chunk that arrives while its job is erased or deleted would create its file
 * again.
 * @throws Failure 403
 */
export const requireExisting = async (
  { db, platform }: Call,
  job: AuthenticatedJob['job'],
): Promise<void> => {
  const exists = await db
    .selectFrom('jobs')
    .innerJoin('projects', 'projects.id', 'jobs.project_id')
    .select('jobs.id')
    .where('jobs.id', '=', job.id)
    .where('jobs.erased_at', 'is', null)
    .where('projects.deleted_at', 'is', null)
    .executeTakeFirst();
  if (exists !== undefined) return;
  await platform.traces.remove(job);
  throw new Failure('forbidden', { message: '403 Forbidden' });
};

type TraceParams = { id: number; token?: string | undefined; debug_trace?: string | undefined };

/** Marks the trace if the first chunk says that the runner logs debug output for all jobs. */
const markShownVariables = async (
  call: Call,
  { job, memory }: AuthenticatedJob,
  { debug_trace }: TraceParams,
): Promise<void> => {
  if (debug_trace !== 'true' || memory.isDebugged) return;
  await markDebugTrace(call.platform, job.id);
  memory.isDebugged = true;
};

export const appendTrace = async (call: Call, sent: TraceParams): Promise<Answer> => {
  const { id, token } = sent;
  const signed = await authenticateJob(call, id, token);
  await markShownVariables(call, signed, sent);
  const piece = await readBody(call.incoming, maxChunk);
  const start = parseStart(call.header('content-range'), piece.length);
  const { accepted, size } = await append(call, signed, start, piece);
  // Only the first chunk creates a file.
  if (start === 0) await requireExisting(call, signed.job);
  if (size > maxTrace) {
    await endWithStoredTrace(
      call.platform,
      signed.job,
      async (tx) => await failJob(tx, id, 'trace_size_exceeded'),
    );
    throw new Failure('forbidden', { message: '403 Forbidden' }, { 'job-status': 'failed' });
  }
  const headers = { ...answerHeaders(call, await settleCancelled(call, signed)), range: `0-${size}` };
  if (accepted) return new Answer(null, { status: 202, headers });
  return new Answer({ message: '416 Range Not Satisfiable' }, { status: 416, headers });
};
