/** What became of a step of `test/run.ts`: counts, failures, and what was printed. */
import type { Ended } from './child.ts';
import type { Report } from './reporter.ts';

export type Failure = { file: string; name: string; message: string };
export type Result = {
  passed: number;
  skipped: number;
  failures: Failure[];
  output: string;
  /** How long each file took, in seconds. */
  times?: { file: string; seconds: number }[];
  unsteady?: Failure[];
};

/** Why a process that did not end well did so; `minutes`: how long it was given. */
export const reasonOf = ({ code, late }: Ended, minutes: number): string => {
  if (late) return `killed: not done after ${minutes} minutes`;
  return code === null ? 'ended by a signal' : `ended with code ${code}`;
};

/**
 * The counts of what was reported; a run that broke off is one more failure.
 * @param log reports, a line each
 * @param begun the name of the last test that began
 */
export const resultOf = (ended: Ended, log: string, begun: string, minutes: number): Result => {
  const lines = log.split('\n').slice(0, -1); // the last one is empty, or was never finished
  const reports = lines.map((line) => JSON.parse(line) as Report);
  const of = (kind: Report['kind']): Report[] => reports.filter((one) => one.kind === kind);
  const failures = of('fail').map(({ file = '', name = '', message = '' }) => ({ file, name, message }));
  if (of('end').length === 0 || (ended.code !== 0 && failures.length === 0)) {
    const done = of('done').map(({ file }) => file);
    const open = of('begin').filter(({ file }) => !done.includes(file));
    const message = ended.code === 0 ? 'the process left before its last test' : reasonOf(ended, minutes);
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
    times: of('done').map(({ file = '', seconds = 0 }) => ({ file, seconds })),
  };
};

/** Several as one. */
export const sumOf = (results: Result[]): Result => ({
  passed: results.reduce((sum, { passed }) => sum + passed, 0),
  skipped: results.reduce((sum, { skipped }) => sum + skipped, 0),
  failures: results.flatMap(({ failures }) => failures),
  output: results.map(({ output }) => output).join(''),
  times: results.flatMap(({ times = [] }) => times),
});
