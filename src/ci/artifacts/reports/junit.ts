/** Parses test reports in JUnit's XML format. */
import { readXml } from './xml.ts';

export type TestCase = {
  status: 'success' | 'failed' | 'error' | 'skipped';
  name: string;
  classname: string;
  file: string | null;
  /** Seconds. */
  execution_time: number;
  /** Output of the failure, or of the skip. */
  system_output: string | null;
};

/** Status, keyed by the name of the child element. With several children the worst status wins. */
const statuses = { failure: 'failed', error: 'error', skipped: 'skipped' } as const;
type Verdict = keyof typeof statuses;

const isVerdict = (name: string): name is Verdict => Object.hasOwn(statuses, name);

const weights = { success: 0, skipped: 1, error: 2, failed: 3 };

const parseSeconds = (text: string | undefined): number => {
  const seconds = Number(text?.replaceAll(',', '') ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 0;
};

const toCase = (attributes: ReadonlyMap<string, string>): TestCase => ({
  status: 'success',
  name: attributes.get('name') ?? '',
  classname: attributes.get('classname') ?? '',
  file: attributes.get('file') ?? null,
  execution_time: parseSeconds(attributes.get('time')),
  system_output: null,
});

type VerdictText = { status: TestCase['status']; message: string; parts: string[] };

const settle = (one: TestCase, { status, message, parts }: VerdictText): void => {
  if (weights[status] <= weights[one.status]) return;
  const text = parts.join('').trim();
  const output = text.includes(message) ? text : [message, text].filter((part) => part !== '').join('\n');
  one.status = status;
  one.system_output = output === '' ? null : output;
};

export const maxCases = 100_000;

/**
 * Reads all cases in document order, from nested suites too.
 * @throws XmlFault; RangeError past the limit
 */
export const readJunit = (text: string): TestCase[] => {
  const cases: TestCase[] = [];
  let [current, verdict]: [TestCase | null, VerdictText | null] = [null, null];
  readXml(text, {
    open: (name, attributes) => {
      if (name === 'testcase') {
        if (cases.length >= maxCases) throw new RangeError('too many test cases');
        cases.push((current = toCase(attributes)));
      } else if (current !== null && verdict === null && isVerdict(name)) {
        verdict = { status: statuses[name], message: attributes.get('message') ?? '', parts: [] };
      }
    },
    close: (name) => {
      if (name === 'testcase') current = null;
      if (current === null || verdict === null || !isVerdict(name)) return;
      settle(current, verdict);
      verdict = null;
    },
    text: (part) => void verdict?.parts.push(part),
  });
  return cases;
};
