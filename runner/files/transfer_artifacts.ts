/** Uploads a job's artifacts and downloads artifacts of other jobs. */
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { JobClient } from '../coordinator/client.ts';
import { type Collected, type CollectedFile, type CollectionRoot, collect } from './collect_files.ts';
import { writeGzipTo, writeRawTo, writeZipTo } from './write_archive.ts';
import type { ArtifactOrder, Dependency } from '../coordinator/protocol.ts';
import type { JobLog } from '../log/job_log.ts';
import { unpack } from './extract_archive.ts';
import { type Values, expandVariables } from '../job_variables.ts';
import type { User } from '../executors/run_process.ts';

export type TransferParts = {
  client: JobClient;
  source: CollectionRoot;
  values: Values;
  trace: JobLog;
  user: User | null;
  /** A folder of the runner for transfers. */
  own: string;
  stop: AbortSignal;
};

/** Returns whether files are uploaded after this result. */
export const isUploadedAfter = (when: string | null | undefined, succeeded: boolean): boolean => {
  if (when === 'always') return true;
  return (when || 'on_success') === (succeeded ? 'on_success' : 'on_failure');
};

const writers = { zip: writeZipTo, gzip: writeGzipTo, raw: writeRawTo };
const endings = { zip: '.zip', gzip: '.gz', raw: '' };
type Format = keyof typeof writers;

const isFormat = (text: string): text is Format => Object.hasOwn(writers, text);

const getArchiveName = (
  order: ArtifactOrder,
  format: Format,
  values: Values,
  files: readonly CollectedFile[],
): string => {
  const name = basename(expandVariables(order.name ?? '', values).replaceAll('\\', '/'));
  if (format === 'raw') return basename(files.find(({ kind }) => kind === 'file')?.path ?? name);
  return `${name === '' ? 'artifacts' : name}${endings[format]}`;
};

/** Logs entries that were left out. */
export const warnUnnameable = (trace: JobLog, unnameable: readonly string[]): void => {
  if (unnameable.length === 0) return;
  const shown = unnameable.slice(0, 3).join(', ');
  trace.say(
    `WARNING: left out, since their names are not UTF-8: ${shown}${unnameable.length > 3 ? ' and more' : ''}`,
    'yellow',
  );
};

/** Logs what was collected. */
const reportCollected = (trace: JobLog, { perPath, unnameable }: Collected): void => {
  for (const [path, count] of perPath) {
    if (count > 0) trace.say(`${path}: found ${count} matching artifact files and directories`);
    else
      trace.say(
        `WARNING: ${path}: no matching files. Ensure that the artifact path is relative to the working directory`,
        'yellow',
      );
  }
  warnUnnameable(trace, unnameable);
};

const upload = async (order: ArtifactOrder, parts: TransferParts): Promise<void> => {
  const { client, source, values, trace, stop } = parts;
  const type = order.artifact_type || 'archive';
  const format = order.artifact_format || 'zip';
  if (!isFormat(format))
    return trace.say(`WARNING: artifacts of the format ${format} are not known`, 'yellow');
  const all = (list: string[] | null | undefined): string[] =>
    (list ?? []).map((path) => expandVariables(path, values));
  const collected = await collect(source, {
    paths: all(order.paths),
    exclude: all(order.exclude),
    untracked: order.untracked === true,
  });
  const { files } = collected;
  reportCollected(trace, collected);
  if (files.length === 0) return trace.say('ERROR: No files to upload', 'red');
  const write = async (out: Writable): Promise<void> => await writers[format](source.root, files, out);
  const filename = getArchiveName(order, format, values, files);
  const expire_in = order.expire_in ? expandVariables(order.expire_in, values) : null;
  const { status } = await client.upload({ type, format, expire_in, filename, write }, stop);
  if (status === 201)
    return trace.say(`Uploading artifacts as "${type}" to coordinator... ${status} Created`);
  const why = status === 413 ? 'they are too large' : 'the coordinator refused them';
  throw new Error(`artifacts as "${type}" were not uploaded: ${why} (${status})`);
};

export const uploadArtifacts = async (
  orders: readonly ArtifactOrder[],
  succeeded: boolean,
  parts: TransferParts,
): Promise<void> => {
  const selected = orders.filter(({ when }) => isUploadedAfter(when, succeeded));
  if (selected.length === 0) return;
  await parts.trace.section(`upload_artifacts_on_${succeeded ? 'success' : 'failure'}`, async () => {
    parts.trace.say(`Uploading artifacts for ${succeeded ? 'successful' : 'failed'} job`, 'blue');
    for (const order of selected) {
      parts.trace.say('Uploading artifacts...', 'green');
      await upload(order, parts);
    }
  });
};

const download = async (from: Dependency, parts: TransferParts): Promise<void> => {
  const { client, source, trace, user, own, stop } = parts;
  const file = join(own, 'artifacts.zip');
  trace.say(`Downloading artifacts for ${from.name} (${from.id})...`, 'green');
  try {
    const save = async (body: NodeJS.ReadableStream): Promise<void> =>
      await pipeline(body, createWriteStream(file, { mode: 0o600 }));
    const { status } = await client.download(from, save, stop);
    if (status !== 200) throw new Error(`artifacts of ${from.name} could not be downloaded (${status})`);
    await unpack(file, source.root, user);
    trace.say(`Downloading artifacts from coordinator... ok`);
  } finally {
    await rm(file, { force: true });
  }
};

export const downloadArtifacts = async (
  dependencies: readonly Dependency[],
  parts: TransferParts,
): Promise<void> => {
  const available = dependencies.filter(({ artifacts_file }) => Boolean(artifacts_file?.filename));
  if (available.length === 0) return;
  await parts.trace.section('download_artifacts', async () => {
    parts.trace.say('Downloading artifacts', 'blue');
    for (const from of available) await download(from, parts);
  });
};
