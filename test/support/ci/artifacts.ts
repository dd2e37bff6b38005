/** Seeds traces and artifacts of jobs without a runner. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { writeZip } from '../../../zip/write_zip.ts';
import {
  type ArtifactMetadata,
  type Artifact,
  addArtifact,
} from '../../../src/ci/artifacts/store/artifacts.ts';
import type { TraceKey } from '../../../src/platform/blob/trace_path.ts';
import type { TestService } from '../service.ts';

type SeededJob = { id: number; project_id: number };

const modified = new Date('2026-03-04T05:06:08Z');

/** Builds a zip archive of the files, by name. */
export const buildZip = async (files: Record<string, string | Buffer>): Promise<Buffer> =>
  await buffer(
    writeZip(
      Object.entries(files).map(([name, content]) => ({
        name,
        kind: name.endsWith('/') ? ('directory' as const) : ('file' as const),
        mode: 0o644,
        modified,
        content,
      })),
    ),
  );

export const seedArtifact = async (
  gantry: TestService,
  job: SeededJob,
  content: Buffer,
  announced: Partial<ArtifactMetadata> = {},
): Promise<Artifact> =>
  await addArtifact(
    gantry.service.platform,
    job,
    { file_type: 'archive', file_format: 'zip', filename: 'artifacts.zip', expire_in: null, ...announced },
    Readable.from([content]),
  );

/** Returns the name of a job's log, as the service builds it. */
export const getLogName = async ({ service }: TestService, id: number): Promise<TraceKey> =>
  await service.platform.store.db
    .selectFrom('jobs')
    .select(['id', 'project_id', 'trace_key'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

/** Appends text to the log of a job. */
export const seedTrace = async (
  gantry: TestService,
  job: SeededJob,
  text: string | Buffer,
): Promise<void> => {
  const { traces } = gantry.service.platform;
  const log = await getLogName(gantry, job.id);
  await traces.append(log, (await traces.size(log)) ?? 0, Buffer.from(text));
};
