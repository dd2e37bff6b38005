import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JobStatus } from '../db/schema_ci.ts';
import { type Counted, compositeStatus, isEnded } from './composite.ts';

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
  fc.record<Counted>({ status: fc.constantFrom(...statuses), allow_failure: fc.constantFrom(0, 1) }),
  { minLength: 1, maxLength: 6 },
);

/** `failed?` is one that may fail. */
const jobsOf = (text: string): Counted[] =>
  text
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => {
      const status = statuses.find((one) => one === word.replace('?', ''));
      assert.ok(status !== undefined, word);
      return { status, allow_failure: word.endsWith('?') ? 1 : 0 };
    });

describe('the status of jobs together', () => {
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
    it(`${jobs || 'nothing'} -> ${status}`, () => assert.equal(compositeStatus(jobsOf(jobs)), status));
  }

  it('does not ask in which order they stand, nor how many are alike', () => {
    fc.assert(
      fc.property(anyJobs, (jobs) => {
        assert.equal(compositeStatus([...jobs.toReversed(), ...jobs]), compositeStatus(jobs));
      }),
    );
  });

  it('has ended when each has, or waits for a person whom nobody waits for; then the worst counts', () => {
    fc.assert(
      fc.property(anyJobs, (jobs) => {
        const isLeft = ({ status, allow_failure }: Counted) => status === 'manual' && allow_failure === 1;
        const isOver = jobs.every((job) => isEnded(job.status) || isLeft(job));
        const status = compositeStatus(jobs);
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
