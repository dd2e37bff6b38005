/** `PUT /jobs/:id`: a runner reports that its job runs or how it ended. */
import { type Static } from 'typebox';
import type { Call } from '../../core/access/call.ts';
import { readCoverage } from '../artifacts/reports/coverage.ts';
import type { JobStatus } from '../../platform/db/schema/ci.ts';
import { preconditionFailed, unavailable } from '../../platform/errors.ts';
import { maxBodyBytes, parseBody } from '../../platform/http/body/parse_body.ts';
import { Answer } from '../../platform/http/endpoint.ts';
import { paramsReader } from '../../platform/http/params.ts';
import { readBody } from '../../platform/http/body/read_body.ts';
import { loadJobConfig } from '../pipelines/pipeline_rows.ts';
import { endAsReported } from './end_reported_jobs.ts';
import { toFailureReason } from './failure_reasons.ts';
import { answerHeaders, settleCancelled } from './job_status_headers.ts';
import { updateParams } from './params.ts';
import { type AuthenticatedJob, readJobToken, authenticateJob } from './authenticate_job.ts';
import { requireExisting, loadSecrets } from './append_trace.ts';
import { heldStatuses } from '../../core/job_statuses.ts';

/** Largest update in bytes. Old releases include the whole trace, and some characters take six bytes in JSON. */
const maxUpdate = 32 * 1024 * 1024;
/** Maximum times that a trace with a wrong checksum is requested again. */
const maxRefusals = 3;

type Update = Static<typeof updateParams>;

const readUpdate = paramsReader(updateParams);

/** Maximum long bodies of unauthenticated clients in memory concurrently. */
const maxUnauthenticated = 4;
let unauthenticatedReads = 0;

/** @throws Failure 503 if too many unauthenticated clients send long bodies */
const readUnauthenticated = async ({ incoming }: Call): Promise<Buffer> => {
  if (unauthenticatedReads >= maxUnauthenticated) throw unavailable();
  unauthenticatedReads += 1;
  try {
    return await readBody(incoming, maxUpdate);
  } finally {
    unauthenticatedReads -= 1;
  }
};

const readSent = async (call: Call, id: number): Promise<Buffer> => {
  const { incoming } = call;
  if (Number(incoming.headers['content-length'] ?? NaN) <= maxBodyBytes)
    return await readBody(incoming, maxBodyBytes);
  if (call.header('job-token') !== undefined) {
    await authenticateJob(call, id, undefined);
    return await readBody(incoming, maxUpdate);
  }
  if (!(await isRunning(call, id))) return await readBody(incoming, maxBodyBytes);
  const bytes = await readUnauthenticated(call);
  await authenticateJob(call, id, readJobToken(call, findToken(bytes)));
  return bytes;
};

/** Finds the token in the JSON text without parsing it: quotes within a value would be escaped. */
const findToken = (bytes: Buffer): string | undefined => {
  const at = bytes.indexOf('"token"');
  if (at === -1) return undefined;
  return /^"token"\s*:\s*"([^"\\]*)"/.exec(bytes.toString('latin1', at, at + 512))?.[1];
};

/** Reads a long body only for a running job, and parses it only after verifying its token. */
const readUpdateBody = async (call: Call, id: number): Promise<Update> => {
  const bytes = await readSent(call, id);
  const sent = await parseBody('PUT', call.header('content-type'), bytes);
  return readUpdate({ ...sent, id }) as Update;
};

/** Checks that the job runs, for old releases, which send their token only in the body. */
const isRunning = async ({ db }: Call, id: number): Promise<boolean> => {
  const row = await db.selectFrom('jobs').select('status').where('id', '=', id).executeTakeFirst();
  return row !== undefined && heldStatuses.includes(row.status);
};

type ReportedTrace = { crc: number | null; size: number | null };

/** Reads the size and checksum that the runner reports for the trace. */
const readReportedTrace = ({ output, checksum }: Update): ReportedTrace => {
  const details = (typeof output === 'object' && output !== null ? output : {}) as Record<string, unknown>;
  const text = typeof details['checksum'] === 'string' ? details['checksum'] : (checksum ?? '');
  const [, digits] = /^crc32:([0-9a-f]{1,8})$/i.exec(text) ?? [];
  const bytes = details['bytesize'];
  return {
    crc: digits === undefined ? null : Number.parseInt(digits, 16),
    size: typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes > 0 ? bytes : null,
  };
};

/** @throws Failure 412: the runner must resend the trace */
const checkTrace = async (call: Call, { job, memory }: AuthenticatedJob, update: Update): Promise<void> => {
  const { crc, size } = readReportedTrace(update);
  if (crc === null && size === null) return;
  const state = (await call.platform.traces.state(job)) ?? { size: 0, crc: 0 };
  const isWhole = size === null || state.size === size;
  const isSame = crc === null || state.crc === null || state.crc === crc;
  if (isWhole && isSame) return;
  // A trace that still differs is accepted unchanged, because the job has ended anyway.
  if (memory.refusals >= (isWhole ? 1 : maxRefusals)) {
    call.platform.log.warn(
      { job: job.id, size: state.size, reported: size },
      'trace differs from the reported size or checksum',
    );
    return;
  }
  memory.refusals += 1;
  memory.isRestarting = true;
  throw preconditionFailed();
};

const measureCoverage = async (call: Call, job: AuthenticatedJob['job']): Promise<number | null> => {
  const { coverage } = await loadJobConfig(call.db, job);
  return coverage === null ? null : await readCoverage(call.platform, job, coverage);
};

const finish = async (call: Call, signed: AuthenticatedJob, update: Update): Promise<JobStatus | null> => {
  const { job } = signed;
  await checkTrace(call, signed, update);
  const coverage = await measureCoverage(call, job);
  const { exit_code = null, state } = update;
  const end =
    state === 'success'
      ? { status: 'success' as const, exit_code, coverage }
      : {
          status: 'failed' as const,
          failure_reason: toFailureReason(update.failure_reason),
          exit_code,
          coverage,
        };
  return await endAsReported(call.platform, job, end);
};

const answerWith = (headers: Record<string, string>): Answer =>
  new Answer(Buffer.from('200'), {
    status: 200,
    headers: { ...headers, 'content-type': 'application/json' },
  });

export const updateJob = async (call: Call, id: number): Promise<Answer> => {
  const update = await readUpdateBody(call, id);
  const signed = await authenticateJob(call, id, readJobToken(call, update.token));
  if (typeof update.trace === 'string' && update.trace !== '') {
    const whole = Buffer.from(update.trace);
    await call.platform.traces.replace(signed.job, whole, await loadSecrets(call, signed));
    await requireExisting(call, signed.job);
  }
  const headers = answerHeaders(call, signed.job);
  if (update.state === 'success' || update.state === 'failed') {
    const ended = await finish(call, signed, update);
    return answerWith({ ...headers, 'job-status': ended ?? signed.job.status });
  }
  return answerWith({ ...headers, 'job-status': (await settleCancelled(call, signed)).status });
};
