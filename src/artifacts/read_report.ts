/** Reads one report of tests: a short one here, a long one in a thread of its own. What was read is kept for a while. */
import { PassThrough } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Platform } from '../access/call.ts';
import { type Program, programPath } from '../apart/program.ts';
import { TooMuch, runApart } from '../apart/threads.ts';
import { type TestCase, readJunit } from './junit.ts';
import { readText } from './read_text.ts';
import { remembering } from './remember.ts';
import { type Artifact, artifactBytes } from './store.ts';
import { XmlFault } from './xml.ts';

const program: Program = {
  path: programPath(import.meta, 'thread.ts', 'junit_thread'),
  longest: 10_000,
  memory: 512,
};

/** `size`: of the text that was read for it. */
export type Report = { cases: TestCase[]; error: string | null; size: number };

/** Of one report, unpacked. */
const mostBytes = 20 * 1024 * 1024;
/** What is read within a few milliseconds. */
const shortText = 64 * 1024;

class Unreadable extends Error {}

/** By UTF-16 units of the texts. */
const remembered = remembering<Report>({ most: 16 * 1024 * 1024, weightOf: ({ size }) => size });

const textOf = async (platform: Platform, report: Artifact): Promise<string> => {
  const content = await artifactBytes(platform, report);
  if (content === null) throw new Unreadable('the report is gone');
  return await readText(content, report.file_format === 'gzip' ? createGunzip() : new PassThrough(), {
    most: mostBytes,
    tooBig: () => new Unreadable('the report is too large'),
    invalidFormat: () => new Unreadable('the report is no compressed text'),
  });
};

const faultText = (message: string): string => `JUnit XML parsing failed: ${message}`;

const readApart = async (text: string, owner: string): Promise<Report> => {
  const cases: TestCase[] = [];
  const answer = async (some: unknown): Promise<void> => {
    for (const one of some as TestCase[]) cases.push(one);
  };
  const told = await runApart(program, { owner, task: text, answer });
  const wrong = told as { fault: boolean; message: string } | null;
  const error = wrong === null ? null : wrong.fault ? faultText(wrong.message) : wrong.message;
  return { cases, error, size: text.length };
};

const parse = async (text: string, owner: string): Promise<Report> =>
  text.length > shortText
    ? await readApart(text, owner)
    : { cases: readJunit(text), error: null, size: text.length };

const nothing = (error: string): Report => ({ cases: [], error, size: 0 });

/** @throws Failure 503 where too many wait to be read */
export const readReport = async (platform: Platform, report: Artifact): Promise<Report> => {
  const key = `${report.project_id}/${report.sha256}/${report.file_format}`;
  const read = async (): Promise<Report> =>
    await parse(await textOf(platform, report), `project ${report.project_id}`);
  try {
    return await remembered(key, read);
  } catch (error) {
    if (error instanceof XmlFault) return nothing(faultText(error.message));
    if (error instanceof TooMuch) return nothing('the report takes too long to read, or too much memory');
    if (error instanceof Unreadable || error instanceof RangeError) return nothing(error.message);
    throw error;
  }
};
