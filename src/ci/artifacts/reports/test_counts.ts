/** Counts the tests of a pipeline for pages that show only counts. */
import type { Call } from '../../../core/access/call.ts';
import { Failure } from '../../../platform/errors.ts';
import { makeLruCache } from '../../../platform/lru_cache.ts';
import type { LoadedPipeline } from '../../pipelines/find.ts';
import { summaryJson } from './json.ts';
import { buildTestSuites, listReadableReports } from './test_report.ts';

export type TestCounts = { total: number; failed: number };

/** Keyed by the digests of the reports. */
const cached = makeLruCache<TestCounts>(2_000, () => 1);
/** Bytes of reports, as stored, that are parsed for a page. */
const maxBytes = 1024 * 1024;

/**
 * Counts the tests that the caller may read. `uncounted`: the reports are too large, one of them
 * could not be read, or too many wait to be parsed.
 * @returns null without a report
 */
export const countTests = async (
  call: Call,
  loaded: LoadedPipeline,
): Promise<TestCounts | 'uncounted' | null> => {
  const reports = await listReadableReports(call, loaded);
  if (reports.length === 0) return null;
  const key = reports.map(({ sha256 }) => sha256).join(' ');
  const earlier = cached.get(key);
  if (earlier !== undefined) return earlier;
  if (reports.reduce((sum, { size }) => sum + size, 0) > maxBytes) return 'uncounted';
  try {
    // A report that could not be read may have tests, and may be read the next time.
    const { total } = summaryJson(await buildTestSuites(call, loaded));
    if (total.suite_error !== null) return 'uncounted';
    const counts = { total: total.count, failed: total.failed + total.error };
    cached.set(key, counts);
    return counts;
  } catch (error) {
    if (error instanceof Failure) return 'uncounted';
    throw error;
  }
};
