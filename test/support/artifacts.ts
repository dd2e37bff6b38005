/** Traces and artifacts of jobs that no runner ran. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { writeZip } from '../../zip/write.ts';
import { type Announced, type Artifact, addArtifact } from '../../src/artifacts/store.ts';
import type { TestService } from './service.ts';

type JobOf = { id: number; project_id: number };

const modified = new Date('2026-03-04T05:06:08Z');

/** An archive of these files, by name. */
export const zipOf = async (files: Record<string, string | Buffer>): Promise<Buffer> =>
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
  job: JobOf,
  content: Buffer,
  announced: Partial<Announced> = {},
): Promise<Artifact> =>
  await addArtifact(
    gantry.service.platform,
    job,
    { file_type: 'archive', file_format: 'zip', filename: 'artifacts.zip', expire_in: null, ...announced },
    Readable.from([content]),
  );

/** What a job printed. */
export const seedTrace = async (gantry: TestService, job: JobOf, text: string | Buffer): Promise<void> => {
  const { traces } = gantry.service.platform;
  await traces.append(job, (await traces.size(job)) ?? 0, Buffer.from(text));
};
