/** What a runner says of its job: that it runs, and how it ended. */
import { type Static } from 'typebox';
import type { Call } from '../access/call.ts';
import { coverageOf } from '../artifacts/coverage.ts';
import type { JobStatus } from '../db/schema_ci.ts';
import { preconditionFailed, unavailable } from '../errors.ts';
import { largestBody, parseBody } from '../http/body.ts';
import { Answer } from '../http/endpoint.ts';
import { paramsReader } from '../http/params.ts';
import { readWhole } from '../http/read_whole.ts';
import { jobConfigOf } from '../pipelines/store.ts';
import { endByRunner } from './ends.ts';
import { knownReason } from './failure_reasons.ts';
import { answerHeaders, settled } from './job_status.ts';
import { updateParams } from './params.ts';
import { type SignedJob, jobTokenOf, signInJob } from './sign_in.ts';
import { requireThere, secretsOf } from './trace.ts';
import { heldStatuses } from '../job_statuses.ts';

/** Bytes of an update with a whole log in it, as releases of old send: some characters take six times their place. */
const largestUpdate = 32 * 1024 * 1024;
/** How often a log that is not as its runner says is asked for again. */
const mostRefusals = 3;

type Update = Static<typeof updateParams>;

const readUpdate = paramsReader(updateParams);

/** Long bodies of whoever has not signed in, that are held at once. */
const mostUnknown = 4;
let unknown = 0;

/** @throws Failure 503 where others of whom nothing is known send long ones already */
const readUnknown = async ({ incoming }: Call): Promise<Buffer> => {
  if (unknown >= mostUnknown) throw unavailable();
  unknown += 1;
  try {
    return await readWhole(incoming, largestUpdate);
  } finally {
    unknown -= 1;
  }
};

const readSent = async (call: Call, id: number): Promise<Buffer> => {
  const { incoming } = call;
  if (Number(incoming.headers['content-length'] ?? NaN) <= largestBody)
    return await readWhole(incoming, largestBody);
  if (call.header('job-token') !== undefined) {
    await signInJob(call, id, undefined);
    return await readWhole(incoming, largestUpdate);
  }
  if (!(await runs(call, id))) return await readWhole(incoming, largestBody);
  const bytes = await readUnknown(call);
  await signInJob(call, id, jobTokenOf(call, tokenIn(bytes)));
  return bytes;
};

/** The token of an update in JSON, without parsing it: within a text, its quotes would be escaped. */
const tokenIn = (bytes: Buffer): string | undefined => {
  const at = bytes.indexOf('"token"');
  if (at === -1) return undefined;
  return /^"token"\s*:\s*"([^"\\]*)"/.exec(bytes.toString('latin1', at, at + 512))?.[1];
};

/** A long body is read only of a job that runs, and parsed only once its token is verified. */
const bodyOf = async (call: Call, id: number): Promise<Update> => {
  const bytes = await readSent(call, id);
  const sent = await parseBody('PUT', call.header('content-type'), bytes);
  return readUpdate({ ...sent, id }) as Update;
};

/** Releases of old say their token in the body alone. */
const runs = async ({ db }: Call, id: number): Promise<boolean> => {
  const row = await db.selectFrom('jobs').select('status').where('id', '=', id).executeTakeFirst();
  return row !== undefined && heldStatuses.includes(row.status);
};

type Claimed = { crc: number | null; size: number | null };

/** What the runner says of the log that it sent. */
const claimedOf = ({ output, checksum }: Update): Claimed => {
  const told = (typeof output === 'object' && output !== null ? output : {}) as Record<string, unknown>;
  const text = typeof told['checksum'] === 'string' ? told['checksum'] : (checksum ?? '');
  const [, digits] = /^crc32:([0-9a-f]{1,8})$/i.exec(text) ?? [];
  const bytes = told['bytesize'];
  return {
    crc: digits === undefined ? null : Number.parseInt(digits, 16),
    size: typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes > 0 ? bytes : null,
  };
};

/** @throws Failure 412: the log is to be sent again */
const checkTrace = async (call: Call, { job, memory }: SignedJob, update: Update): Promise<void> => {
  const { crc, size } = claimedOf(update);
  if (crc === null && size === null) return;
  const state = (await call.platform.traces.state(job)) ?? { size: 0, crc: 0 };
  const isWhole = size === null || state.size === size;
  const isSame = crc === null || state.crc === null || state.crc === crc;
  if (isWhole && isSame) return;
  // One that stays other than its runner says is taken as it is: the job has ended all the same.
  if (memory.refusals >= (isWhole ? 1 : mostRefusals)) {
    call.platform.log.warn({ job: job.id, size: state.size, told: size }, 'a log is not as its runner says');
    return;
  }
  memory.refusals += 1;
  memory.isRestarting = true;
  throw preconditionFailed();
};

const coverageIn = async (call: Call, job: SignedJob['job']): Promise<number | null> => {
  const { coverage } = await jobConfigOf(call.db, job);
  return coverage === null ? null : await coverageOf(call.platform, job, coverage);
};

const finish = async (call: Call, signed: SignedJob, update: Update): Promise<JobStatus | null> => {
  const { job } = signed;
  await checkTrace(call, signed, update);
  const coverage = await coverageIn(call, job);
  const { exit_code = null, state } = update;
  const end =
    state === 'success'
      ? { status: 'success' as const, exit_code, coverage }
      : {
          status: 'failed' as const,
          failure_reason: knownReason(update.failure_reason),
          exit_code,
          coverage,
        };
  return await endByRunner(call.platform, job, end);
};

const told = (headers: Record<string, string>): Answer =>
  new Answer(Buffer.from('200'), {
    status: 200,
    headers: { ...headers, 'content-type': 'application/json' },
  });

export const updateJob = async (call: Call, id: number): Promise<Answer> => {
  const update = await bodyOf(call, id);
  const signed = await signInJob(call, id, jobTokenOf(call, update.token));
  if (typeof update.trace === 'string' && update.trace !== '') {
    const whole = Buffer.from(update.trace);
    await call.platform.traces.replace(signed.job, whole, await secretsOf(call, signed));
    await requireThere(call, signed.job);
  }
  const headers = answerHeaders(call, signed.job);
  if (update.state === 'success' || update.state === 'failed') {
    const ended = await finish(call, signed, update);
    return told({ ...headers, 'job-status': ended ?? signed.job.status });
  }
  return told({ ...headers, 'job-status': (await settled(call, signed)).status });
};
