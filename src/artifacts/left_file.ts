/** A text that a job of a pipeline left: parts of that pipeline may be made of it. */
import { isUtf8 } from 'node:buffer';
import { buffer } from 'node:stream/consumers';
import { ZipFailure } from '../../zip/format.ts';
import { readItem } from '../../zip/read.ts';
import type { Platform } from '../access/call.ts';
import { Failure } from '../errors.ts';
import type { ReadLeft } from '../pipelines/ci_files.ts';
import { contentOf, directoryOf } from './browse.ts';
import { type Artifact, findArtifact } from './store.ts';

/** Bytes. */
const largest = 1_048_576;

const archiveOf = async (
  { store: { db }, clock }: Platform,
  pipelineId: number,
  name: string,
): Promise<Artifact | null> => {
  const job = await db
    .selectFrom('jobs')
    .select('id')
    .where('pipeline_id', '=', pipelineId)
    .where('name', '=', name)
    .where('retried', '=', 0)
    .where('bridge', '=', 0)
    .executeTakeFirst();
  return job === undefined ? null : await findArtifact(db, job.id, { now: clock.now() });
};

/** null: there is no such file, or it is damaged, or too large. */
const bytesOf = async (platform: Platform, artifact: Artifact, path: string): Promise<Buffer | null> => {
  const content = contentOf(platform, artifact);
  try {
    const item = (await directoryOf(content, artifact)).find(path);
    return item?.kind === 'file' ? await buffer(await readItem(content, item, largest)) : null;
  } catch (error) {
    const isNone = error instanceof ZipFailure || (error instanceof Failure && error.kind === 'not_found');
    if (isNone) return null;
    throw error;
  }
};

export const readLeft =
  (platform: Platform, pipelineId: number): ReadLeft =>
  async (name, path) => {
    const artifact = await archiveOf(platform, pipelineId, name);
    if (artifact === null) return { problem: 'no_job' };
    const bytes = await bytesOf(platform, artifact, path);
    if (bytes === null) return { problem: 'missing' };
    return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { problem: 'unreadable' };
  };
