import { array, int, nullable, number, object, string } from '../../../platform/http/schema.ts';
import type { TestCase } from './junit.ts';
import type { TestSuite } from './test_report.ts';

const counts = {
  total_time: number,
  total_count: int,
  success_count: int,
  failed_count: int,
  skipped_count: int,
  error_count: int,
};

const caseShape = object({
  status: string,
  name: string,
  classname: string,
  file: nullable(string),
  execution_time: number,
  system_output: nullable(string),
  stack_trace: nullable(string),
});

export const reportShape = object({
  ...counts,
  test_suites: array(
    object({ name: string, ...counts, suite_error: nullable(string), test_cases: array(caseShape) }),
  ),
});

export const summaryShape = object({
  total: object({
    time: number,
    count: int,
    success: int,
    failed: int,
    skipped: int,
    error: int,
    suite_error: nullable(string),
  }),
  test_suites: array(
    object({ name: string, ...counts, build_ids: array(int), suite_error: nullable(string) }),
  ),
});

/** Sort order of cases: the worst status first. */
const order = ['failed', 'error', 'success', 'skipped'] as const;

const sorted = (cases: readonly TestCase[]): TestCase[] =>
  order.flatMap((status) => cases.filter((one) => one.status === status));

/** Rounds a sum of seconds to microseconds, which removes float noise. */
const rounded = (seconds: number): number => Math.round(seconds * 1e6) / 1e6;

const countByStatus = (cases: readonly TestCase[]) => {
  const countStatus = (status: TestCase['status']): number =>
    cases.filter((one) => one.status === status).length;
  return {
    total_time: rounded(cases.reduce((sum, { execution_time }) => sum + execution_time, 0)),
    total_count: cases.length,
    success_count: countStatus('success'),
    failed_count: countStatus('failed'),
    skipped_count: countStatus('skipped'),
    error_count: countStatus('error'),
  };
};

export const reportJson = (suites: readonly TestSuite[]) => ({
  ...countByStatus(suites.flatMap(({ cases }) => cases)),
  test_suites: suites.map(({ name, cases, error }) => ({
    name,
    ...countByStatus(cases),
    suite_error: error,
    test_cases: sorted(cases).map((one) => ({ ...one, stack_trace: null })),
  })),
});

export const summaryJson = (suites: readonly TestSuite[]) => {
  const sums = countByStatus(suites.flatMap(({ cases }) => cases));
  return {
    total: {
      time: sums.total_time,
      count: sums.total_count,
      success: sums.success_count,
      failed: sums.failed_count,
      skipped: sums.skipped_count,
      error: sums.error_count,
      suite_error: suites.find(({ error }) => error !== null)?.error ?? null,
    },
    test_suites: suites.map(({ name, cases, build_ids, error }) => ({
      name,
      ...countByStatus(cases),
      build_ids,
      suite_error: error,
    })),
  };
};
