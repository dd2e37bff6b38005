/** Reads a text file from a job's archive, for instance the configuration of a child pipeline. */
import { isUtf8 } from 'node:buffer';
import { buffer } from 'node:stream/consumers';
import { ZipFailure } from '../../../../zip/format.ts';
import { readItem } from '../../../../zip/read_items.ts';
import type { Platform } from '../../../core/platform.ts';
import { isNotFound } from '../../../platform/errors.ts';
import type { ReadArtifactText } from '../../pipelines/config/ci_files.ts';
import { readContent, loadDirectory } from '../archives/serve_archive_file.ts';
import { type Artifact, findArtifact } from './artifacts.ts';

const maxFileBytes = 1_048_576;

const findArchive = async (
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

/** Returns null for a file that is missing, damaged or too large. */
const readFileBytes = async (
  platform: Platform,
  artifact: Artifact,
  path: string,
): Promise<Buffer | null> => {
  const content = readContent(platform, artifact);
  try {
    const item = (await loadDirectory(content, artifact)).find(path);
    return item?.kind === 'file' ? await buffer(await readItem(content, item, maxFileBytes)) : null;
  } catch (error) {
    const isNone = error instanceof ZipFailure || isNotFound(error);
    if (isNone) return null;
    throw error;
  }
};

export const readArchiveTextFile =
  (platform: Platform, pipelineId: number): ReadArtifactText =>
  async (name, path) => {
    const artifact = await findArchive(platform, pipelineId, name);
    if (artifact === null) return { problem: 'no_job' };
    const bytes = await readFileBytes(platform, artifact, path);
    if (bytes === null) return { problem: 'missing' };
    return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { problem: 'unreadable' };
  };
