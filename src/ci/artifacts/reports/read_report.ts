/**
 * Reads one test report: a short one on the main thread, a long one in a worker thread. Results are cached for a while.
 */
import { PassThrough } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Platform } from '../../../core/platform.ts';
import { programPath } from '../../../platform/package_files.ts';
import type { Program } from '../../../platform/workers/program_path.ts';
import { WorkerLimitError, runInWorker } from '../../../platform/workers/run_in_worker.ts';
import { type TestCase, readJunit } from './junit.ts';
import { readGzippedText } from '../store/read_gzipped_text.ts';
import { cacheBriefly } from './cache_briefly.ts';
import { type Artifact, openArtifact } from '../store/artifacts.ts';
import { XmlFault } from './xml.ts';

const program: Program = {
  path: programPath('src/ci/artifacts/reports/read_report_worker.ts', 'read_report_worker'),
  maxMilliseconds: 10_000,
  memory: 512,
};

/** `size`: length of the text that was parsed. */
export type Report = { cases: TestCase[]; error: string | null; size: number };

/** Largest report, unpacked. */
const maxBytes = 20 * 1024 * 1024;
/** Length of a text that parses within a few milliseconds. */
const shortText = 64 * 1024;

class Unreadable extends Error {}

/** Parsed reports, weighed by UTF-16 units of their texts. */
const cachedReports = cacheBriefly<Report>({ maxWeight: 16 * 1024 * 1024, weightOf: ({ size }) => size });

const readReportText = async (platform: Platform, report: Artifact): Promise<string> => {
  const content = await openArtifact(platform, report);
  if (content === null) throw new Unreadable('the report is gone');
  return await readGzippedText(content, report.file_format === 'gzip' ? createGunzip() : new PassThrough(), {
    maxLength: maxBytes,
    tooBig: () => new Unreadable('the report is too large'),
    invalidFormat: () => new Unreadable('the report is not compressed text'),
  });
};

const faultText = (message: string): string => `JUnit XML parsing failed: ${message}`;

const readInWorker = async (text: string, owner: string): Promise<Report> => {
  const cases: TestCase[] = [];
  const answer = async (some: unknown): Promise<void> => {
    for (const testCase of some as TestCase[]) cases.push(testCase);
  };
  const outcome = await runInWorker(program, { owner, task: text, answer });
  const wrong = outcome as { fault: boolean; message: string } | null;
  const error = wrong === null ? null : wrong.fault ? faultText(wrong.message) : wrong.message;
  return { cases, error, size: text.length };
};

const parse = async (text: string, owner: string): Promise<Report> =>
  text.length > shortText
    ? await readInWorker(text, owner)
    : { cases: readJunit(text), error: null, size: text.length };

const nothing = (error: string): Report => ({ cases: [], error, size: 0 });

/** @throws Failure 503 if too many reports wait to be parsed */
export const readReport = async (platform: Platform, report: Artifact): Promise<Report> => {
  const key = `${report.project_id}/${report.sha256}/${report.file_format}`;
  const read = async (): Promise<Report> =>
    await parse(await readReportText(platform, report), `project ${report.project_id}`);
  try {
    return await cachedReports(key, read);
  } catch (error) {
    if (error instanceof XmlFault) return nothing(faultText(error.message));
    if (error instanceof WorkerLimitError)
      return nothing('the report takes too long to read, or too much memory');
    if (error instanceof Unreadable || error instanceof RangeError) return nothing(error.message);
    throw error;
  }
};
