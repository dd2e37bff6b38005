/** Results of a step of `test/run.ts`: counts, failures and output. */
import type { Ended } from './run_command.ts';
import type { Report } from './reporter.ts';

export type Failure = { file: string; name: string; message: string };
export type FileTime = {
  file: string;
  seconds: number;
  /** Seconds. */
  longestTest: number;
  /** Processor time in seconds. */
  processor: number;
};
export type Result = {
  passed: number;
  skipped: number;
  failures: Failure[];
  output: string;
  /** Duration of each file in seconds, and its longest test. */
  times?: FileTime[];
  unsteady?: Failure[];
};

/** Explains why a process did not end well; `minutes` is its time limit. */
export const explainEnd = ({ code, late }: Ended, minutes: number): string => {
  if (late) return `killed: not done after ${minutes} minutes`;
  return code === null ? 'ended by a signal' : `ended with code ${code}`;
};

const readReports = (log: string): Report[] => {
  const lines = log.split('\n').slice(0, -1); // the last line is empty or incomplete
  return lines.map((line) => JSON.parse(line) as Report);
};

/** Files that have ended, from a log that may still be written. */
export const doneFiles = (log: string): string[] =>
  readReports(log)
    .filter(({ kind }) => kind === 'done')
    .map(({ file = '' }) => file);

const longestTest = (reports: Report[], file: string): number =>
  Math.max(
    0,
    ...reports
      .filter(({ kind, suite }) => (kind === 'pass' || kind === 'fail') && suite === file)
      .map(({ seconds = 0 }) => seconds),
  );

/**
 * Sums up the reports; a run that broke off counts as one more failure.
 * @param log reports, one a line
 * @param begun the name of the last test that started
 */
export const readResult = (ended: Ended, log: string, begun: string, minutes: number): Result => {
  const reports = readReports(log);
  const of = (kind: Report['kind']): Report[] => reports.filter((one) => one.kind === kind);
  const failures = of('fail').map(({ file = '', name = '', message = '' }) => ({ file, name, message }));
  if (of('end').length === 0 || (ended.code !== 0 && failures.length === 0)) {
    const done = of('done').map(({ file }) => file);
    const open = of('begin').filter(({ file }) => !done.includes(file));
    const message = ended.code === 0 ? 'the process left before its last test' : explainEnd(ended, minutes);
    failures.push({
      file: open.map(({ file }) => file).join(', '),
      name: begun && `${begun} (the last to begin)`,
      message,
    });
  }
  const texts = of('text').map(({ message }) => message);
  return {
    passed: of('pass').length,
    skipped: of('skip').length,
    failures,
    output: ended.output + texts.join(''),
    times: of('done').map(({ file = '', seconds = 0 }) => ({
      file,
      seconds,
      longestTest: longestTest(reports, file),
      processor: of('processor').find((one) => one.file === file)?.seconds ?? 0,
    })),
  };
};

/** Adds up several results. */
export const sumResults = (results: Result[]): Result => ({
  passed: results.reduce((sum, { passed }) => sum + passed, 0),
  skipped: results.reduce((sum, { skipped }) => sum + skipped, 0),
  failures: results.flatMap(({ failures }) => failures),
  output: results.map(({ output }) => output).join(''),
  times: results.flatMap(({ times = [] }) => times),
});
