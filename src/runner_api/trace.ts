/** Pieces of a log, as they come. */
import type { Call } from '../access/call.ts';
import { Failure } from '../errors.ts';
import { Answer } from '../http/endpoint.ts';
import { readWhole } from '../http/read_whole.ts';
import { dropJob } from '../pipelines/job_states.ts';
import { variablesOfJob } from '../pipelines/job_variables.ts';
import { noteDebugged } from './debug_trace.ts';
import { endWithTrace } from './end.ts';
import { answerHeaders, settled } from './job_status.ts';
import { secretsAmong } from './payload.ts';
import { type SignedJob, signInJob } from './sign_in.ts';

/** Bytes of one piece: runners send a MiB, and all that is left where one before it was refused. */
const largestPiece = 16 * 1024 * 1024;
/** Bytes of a whole log: runners stop at 4 MiB unless they are told otherwise. */
const largestTrace = 100 * 1024 * 1024;

/** What must not be read in the job's log: known since it was given away, unless another process did that. */
export const secretsOf = async (call: Call, { job, token, memory }: SignedJob): Promise<string[]> => {
  if (memory.secrets !== null) return memory.secrets;
  const given = { base_url: call.baseUrl, token };
  memory.secrets = secretsAmong([await variablesOfJob(call.platform, job.id, given)], token);
  return memory.secrets;
};

const badRange = (text: string): Failure => new Failure('bad_request', { message: `400 ${text}` });

/** Where the piece begins. Of its end, runners of old name the byte behind it, later ones its last byte. */
const startOf = (header: string | undefined, length: number): number => {
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

const append = async (call: Call, signed: SignedJob, start: number, piece: Buffer) => {
  const { traces } = call.platform;
  const { job, memory } = signed;
  const secrets = await secretsOf(call, signed);
  const appended = await traces.append(job, start, piece, secrets);
  // Asked to send all of it again, the runner begins anew: what we have is what was wrong.
  if (!appended.accepted && start === 0 && memory.isRestarting) {
    memory.isRestarting = false;
    await traces.restart(job);
    return await traces.append(job, start, piece, secrets);
  }
  return appended;
};

/**
 * What came while its job was erased, or went with its project, made the file anew: nothing of it stays.
 * @throws Failure 403
 */
export const requireThere = async ({ db, platform }: Call, job: SignedJob['job']): Promise<void> => {
  const there = await db
    .selectFrom('jobs')
    .innerJoin('projects', 'projects.id', 'jobs.project_id')
    .select('jobs.id')
    .where('jobs.id', '=', job.id)
    .where('jobs.erased_at', 'is', null)
    .where('projects.deleted_at', 'is', null)
    .executeTakeFirst();
  if (there !== undefined) return;
  await platform.traces.remove(job);
  throw new Failure('forbidden', { message: '403 Forbidden' });
};

type Sent = { id: number; token?: string | undefined; debug_trace?: string | undefined };

/** What a runner says by itself, whose jobs all show more: with the first piece. */
const noteShown = async (call: Call, { job, memory }: SignedJob, { debug_trace }: Sent): Promise<void> => {
  if (debug_trace !== 'true' || memory.isDebugged) return;
  await noteDebugged(call.platform, job.id);
  memory.isDebugged = true;
};

export const appendTrace = async (call: Call, sent: Sent): Promise<Answer> => {
  const { id, token } = sent;
  const signed = await signInJob(call, id, token);
  await noteShown(call, signed, sent);
  const piece = await readWhole(call.incoming, largestPiece);
  const start = startOf(call.header('content-range'), piece.length);
  const { accepted, size } = await append(call, signed, start, piece);
  // Only the first piece makes a file.
  if (start === 0) await requireThere(call, signed.job);
  if (size > largestTrace) {
    await endWithTrace(call.platform, signed.job, async (tx) => await dropJob(tx, id, 'trace_size_exceeded'));
    throw new Failure('forbidden', { message: '403 Forbidden' }, { 'job-status': 'failed' });
  }
  const headers = { ...answerHeaders(call, await settled(call, signed)), range: `0-${size}` };
  if (accepted) return new Answer(null, { status: 202, headers });
  return new Answer({ message: '416 Range Not Satisfiable' }, { status: 416, headers });
};
