import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JobStatus } from '../../../platform/db/schema/ci.ts';
import { type StatusEntry, combineStatuses } from './combine_statuses.ts';
import { isEnded } from '../../../core/job_statuses.ts';

const statuses: JobStatus[] = [
  'created',
  'waiting_for_resource',
  'scheduled',
  'pending',
  'running',
  'canceling',
  'success',
  'failed',
  'canceled',
  'skipped',
  'manual',
];

const anyJobs = fc.array(
  fc.record<StatusEntry>({ status: fc.constantFrom(...statuses), allow_failure: fc.constantFrom(0, 1) }),
  { minLength: 1, maxLength: 6 },
);

/** Parses statuses. `failed?` is the status of a job that may fail. */
const jobsOf = (text: string): StatusEntry[] =>
  text
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => {
      const status = statuses.find((one) => one === word.replace('?', ''));
      assert.ok(status !== undefined, word);
      return { status, allow_failure: word.endsWith('?') ? 1 : 0 };
    });

describe('the combined status of jobs', () => {
  const cases: [jobs: string, status: JobStatus][] = [
    ['', 'skipped'],
    ['success success', 'success'],
    ['success failed?', 'success'],
    ['success canceled?', 'success'],
    ['success skipped', 'success'],
    ['success manual?', 'success'],
    ['failed? skipped', 'success'],
    ['skipped skipped', 'skipped'],
    ['manual? skipped', 'skipped'],
    ['manual?', 'skipped'],
    ['manual', 'manual'],
    ['success manual', 'manual'],
    ['success manual created', 'manual'],
    ['success failed', 'failed'],
    ['failed canceled', 'failed'],
    ['failed manual?', 'failed'],
    ['success canceled skipped', 'canceled'],
    ['created created', 'created'],
    ['created manual?', 'created'],
    ['pending created', 'pending'],
    ['pending created skipped', 'pending'],
    ['success pending', 'running'],
    ['success created', 'running'],
    ['failed created', 'running'],
    ['running manual', 'running'],
    ['running canceling', 'canceling'],
    ['success canceling? created', 'canceling'],
    ['waiting_for_resource manual', 'waiting_for_resource'],
    ['scheduled created', 'scheduled'],
    ['manual scheduled', 'manual'],
  ];
  for (const [jobs, status] of cases) {
    it(`${jobs || 'nothing'} -> ${status}`, () => assert.equal(combineStatuses(jobsOf(jobs)), status));
  }

  it('does not depend on the order of jobs, nor on duplicates', () => {
    fc.assert(
      fc.property(anyJobs, (jobs) => {
        assert.equal(combineStatuses([...jobs.toReversed(), ...jobs]), combineStatuses(jobs));
      }),
    );
  });

  it('is final when each job has ended or is an optional manual job; then the worst status counts', () => {
    fc.assert(
      fc.property(anyJobs, (jobs) => {
        const isLeft = ({ status, allow_failure }: StatusEntry) => status === 'manual' && allow_failure === 1;
        const isOver = jobs.every((job) => isEnded(job.status) || isLeft(job));
        const status = combineStatuses(jobs);
        assert.equal(isEnded(status), isOver);
        if (!isOver) return;
        const counts = (word: JobStatus) =>
          jobs.some((job) => job.status === word && job.allow_failure === 0);
        const ranNone = jobs.every((job) => job.status === 'skipped' || isLeft(job));
        const expected = counts('failed')
          ? 'failed'
          : counts('canceled')
            ? 'canceled'
            : ranNone
              ? 'skipped'
              : 'success';
        assert.equal(status, expected);
      }),
      { numRuns: 500 },
    );
  });
});
