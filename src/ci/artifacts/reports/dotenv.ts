/** `artifacts: reports: dotenv`: variables that a job passes to the jobs that depend on it, as `KEY=value` lines. */
import { PassThrough, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Platform } from '../../../core/platform.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { type Failure, refused } from '../../../platform/errors.ts';
import { sealValue } from '../../variables/queries.ts';
import { readGzippedText } from '../store/read_gzipped_text.ts';

export type Dotenv = { key: string; value: string }[];

const maxBytes = 5 * 1024;
const maxVariables = 150;
const maxValueLength = 10_000;

const line = /^([a-zA-Z_][a-zA-Z0-9_]{0,254})\s*=(.*)$/s;

const invalidFormat = (): Failure => refused('Invalid Format');
const tooBig = (): Failure => refused('Dotenv Artifact Too Big. Maximum Allowable Size: 5 KB');
const tooMany = (): Failure => refused(`Dotenv files cannot have more than ${maxVariables} variables`);

const unquoted = (value: string): string => {
  const [first, last] = [value.at(0), value.at(-1)];
  const isQuoted = value.length > 1 && first === last && (first === '"' || first === "'");
  return isQuoted ? value.slice(1, -1) : value;
};

/** @throws Failure 400 in the words that runners show */
const parseDotenv = (text: string): Dotenv => {
  const pairs = new Map<string, string>();
  for (const input of text.split(/\r?\n/)) {
    const written = input.trim();
    if (written === '' || written.startsWith('#')) continue;
    const [, key, value] = line.exec(written.replace(/^export\s+/, '')) ?? [];
    if (key === undefined || value === undefined || value.includes('\0')) throw invalidFormat();
    pairs.set(key, unquoted(value.trim()).slice(0, maxValueLength));
  }
  if (pairs.size > maxVariables) throw tooMany();
  return [...pairs].map(([key, value]) => ({ key, value }));
};

/** @throws Failure 400 for an invalid file */
export const readDotenv = async (
  content: Readable | null,
  format: 'gzip' | 'zip' | 'raw',
): Promise<Dotenv> => {
  const unzip = format === 'gzip' ? createGunzip() : new PassThrough();
  return parseDotenv(
    await readGzippedText(content ?? Readable.from([]), unzip, {
      maxLength: maxBytes,
      tooBig,
      invalidFormat,
    }),
  );
};

/** Stores the variables. A repeated upload has the same bytes, so no old rows need deleting. */
export const storeDotenv = async (
  { db }: Tx,
  platform: Platform,
  job_id: number,
  pairs: Dotenv,
): Promise<void> => {
  if (pairs.length === 0) return;
  const rows = pairs.map(({ key, value }) => ({
    job_id,
    key,
    source: 'dotenv',
    sealed_value: sealValue(platform, value),
  }));
  // Variables that a user set when they played the job take precedence.
  await db
    .insertInto('job_variables')
    .values(rows)
    .onConflict((on) => on.columns(['job_id', 'key']).doNothing())
    .execute();
};
