/** Reads what test programs tell of themselves in JUnit's form. */
import { readXml } from './xml.ts';

export type TestCase = {
  status: 'success' | 'failed' | 'error' | 'skipped';
  name: string;
  classname: string;
  file: string | null;
  /** Seconds. */
  execution_time: number;
  /** What it says of its failure. */
  system_output: string | null;
};

/** By the element that tells; of several the one that says more. */
const statuses = { failure: 'failed', error: 'error', skipped: 'skipped' } as const;
type Verdict = keyof typeof statuses;

const isVerdict = (name: string): name is Verdict => Object.hasOwn(statuses, name);

const weights = { success: 0, skipped: 1, error: 2, failed: 3 };

const secondsOf = (text: string | undefined): number => {
  const seconds = Number(text?.replaceAll(',', '') ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 0;
};

const caseOf = (attributes: ReadonlyMap<string, string>): TestCase => ({
  status: 'success',
  name: attributes.get('name') ?? '',
  classname: attributes.get('classname') ?? '',
  file: attributes.get('file') ?? null,
  execution_time: secondsOf(attributes.get('time')),
  system_output: null,
});

type Told = { status: TestCase['status']; message: string; parts: string[] };

const settle = (one: TestCase, { status, message, parts }: Told): void => {
  if (weights[status] <= weights[one.status]) return;
  const text = parts.join('').trim();
  const output = text.includes(message) ? text : [message, text].filter((part) => part !== '').join('\n');
  one.status = status;
  one.system_output = output === '' ? null : output;
};

export const mostCases = 100_000;

/**
 * All cases, in their order, whatever suites they stand in.
 * @throws XmlFault; RangeError past the most
 */
export const readJunit = (text: string): TestCase[] => {
  const cases: TestCase[] = [];
  let [current, told]: [TestCase | null, Told | null] = [null, null];
  readXml(text, {
    open: (name, attributes) => {
      if (name === 'testcase') {
        if (cases.length >= mostCases) throw new RangeError('too many test cases');
        cases.push((current = caseOf(attributes)));
      } else if (current !== null && told === null && isVerdict(name)) {
        told = { status: statuses[name], message: attributes.get('message') ?? '', parts: [] };
      }
    },
    close: (name) => {
      if (name === 'testcase') current = null;
      if (current === null || told === null || !isVerdict(name)) return;
      settle(current, told);
      told = null;
    },
    text: (part) => void told?.parts.push(part),
  });
  return cases;
};
