/** Reads the logs of finished jobs and compares them with the recorded lengths and checksums. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Selectable, sql } from 'kysely';
import { getTraceArea, getTracePath } from '../../../platform/blob/trace_path.ts';
import { getS3Location } from '../../../platform/config/blobs.ts';
import type { Config } from '../../../platform/config/fields.ts';
import type { Store } from '../../../platform/db/open.ts';
import type { JobsTable } from '../../../platform/db/schema/ci.ts';
import { openBlobReader } from '../../../platform/blob/open_reader.ts';
import type { Reading } from './check_digests.ts';
import { collectDamage } from './collect_damage.ts';
import { type Finding, fail } from './finding.ts';
import type { Progress } from '../progress.ts';

const pageSize = 200;

type Log = Pick<Selectable<JobsTable>, 'id' | 'project_id' | 'trace_key' | 'trace_crc'> & {
  trace_size: number;
  full_path: string;
  /** Where the log is stored (database and bucket, or file), and its digest once it is in the bucket. */
  is_shared: 0 | 1;
  sha256: string | null;
};

const listLogs = async ({ db }: Store, after: number): Promise<Log[]> => {
  const { rows } = await sql<Log>`
    select jobs.id, jobs.project_id, jobs.trace_key, jobs.trace_size, jobs.trace_crc, projects.full_path,
      case when shared_traces.job_id is null then 0 else 1 end as is_shared, shared_traces.sha256
    from jobs join projects on projects.id = jobs.project_id
      left join shared_traces on shared_traces.job_id = jobs.id
    where jobs.trace_size is not null and projects.deleted_at is null and jobs.id > ${after}
    order by jobs.id limit ${pageSize}`.execute(db);
  return rows;
};

export const countLogs = async ({ db }: Store): Promise<number> => {
  const { rows } = await sql<{ count: number }>`select count(*) as count from jobs
    join projects on projects.id = jobs.project_id
    where jobs.trace_size is not null and projects.deleted_at is null`.execute(db);
  return rows[0]?.count ?? 0;
};

const lengthProblem = (length: number, { trace_size }: Log): string | null =>
  length === trace_size ? null : `is damaged: ${length} bytes in place of ${trace_size}`;

/** Returns the problem of a log in the data folder. A masked log has no checksum. */
const fileProblem = async (file: string, log: Log): Promise<string | null> => {
  try {
    await using handle = await open(file, 'r');
    const { size } = await handle.stat();
    const problem = lengthProblem(size, log);
    if (problem !== null || log.trace_crc === null || existsSync(`${file}.masked`)) return problem;
    let crc = 0;
    const content = handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>;
    for await (const chunk of content) crc = crc32(chunk, crc);
    return crc === log.trace_crc ? null : 'is damaged: its content has another checksum';
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? 'is missing' : `cannot be read (${message})`;
  }
};

/** Returns the problem of a log in the bucket. @throws Failure when the store does not answer */
const blobProblem = async (blobs: Reading, log: Log, sha256: string): Promise<string | null> => {
  const stream = await blobs.get(getTraceArea(log), sha256);
  if (stream === null) return 'is missing';
  const digest = createHash('sha256');
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    digest.update(chunk);
    length += chunk.length;
  }
  const isSame = digest.digest('hex') === sha256;
  return lengthProblem(length, log) ?? (isSame ? null : 'is damaged: its content has another digest');
};

/** Returns whether the log is still recorded for its job. It may have been erased meanwhile. */
const isRecorded = async ({ db }: Store, { id, trace_size }: Log): Promise<boolean> => {
  const query = db.selectFrom('jobs').select('id').where('id', '=', id).where('trace_size', '=', trace_size);
  return (await query.executeTakeFirst()) !== undefined;
};

export const checkLogs = async (
  { config, store }: { config: Config; store: Store },
  progress: Progress,
): Promise<Finding[]> => {
  const damage = collectDamage('job logs');
  const { blobs } = await openBlobReader(config);
  const isShared = config.database_url !== null && getS3Location(config) !== null;
  const check = async (log: Log): Promise<void> => {
    const { id, full_path, is_shared, sha256 } = log;
    const file = join(config.data, 'traces', getTracePath(log));
    const inBucket = sha256 === null ? null : await blobProblem(blobs, log, sha256);
    const problem = is_shared === 1 ? inBucket : await fileProblem(file, log);
    progress.advance();
    if (problem === null || !(await isRecorded(store, log))) return;
    const place = is_shared === 1 ? 'in the bucket' : file;
    const advice =
      isShared && is_shared === 0
        ? 'if the data folder of another service has it, start that service, which moves it to the bucket'
        : 'restore it from a backup, or erase the job';
    damage.add(fail('job log', `log of job ${id} of ${full_path} ${problem}: ${place}`, advice));
  };
  for (let after = 0; ;) {
    const logs = await listLogs(store, after);
    for (const log of logs) await check(log);
    const last = logs.at(-1);
    if (last === undefined) return damage.findings('all job logs are there, as long as they were recorded');
    after = last.id;
  }
};
