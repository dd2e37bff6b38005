/** Tests job transitions against a naive model of the rules. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JobStatus } from '../../../platform/db/schema/ci.ts';
import { combineStatuses } from './combine_statuses.ts';
import { isEnded } from '../../../core/job_statuses.ts';
import { type ProcessJob, findRestartable, computeNextStatuses } from './compute_next_statuses.ts';
import { times } from '../../../../test/support/run/sample.ts';

const job = (name: string, overrides: Partial<ProcessJob> = {}): ProcessJob => ({
  id: Number.parseInt(name, 36),
  name,
  stage_position: 1,
  status: 'created',
  run_when: 'on_success',
  allow_failure: 0,
  resource_group: null,
  needs: null,
  ...overrides,
});

const step = (...jobs: ProcessJob[]): Record<string, JobStatus> => {
  const steps = computeNextStatuses(jobs);
  return Object.fromEntries(
    jobs.flatMap(({ id, name }) => {
      const status = steps.get(id);
      return status === undefined ? [] : [[name, status]];
    }),
  );
};

const isOver = ({ status, allow_failure }: ProcessJob): boolean =>
  isEnded(status) || (status === 'manual' && allow_failure === 1);

const isBad = ({ status, allow_failure }: ProcessJob, ...words: JobStatus[]): boolean =>
  allow_failure === 0 && words.includes(status);

const hasRun = ({ status, allow_failure }: ProcessJob): boolean =>
  status === 'success' || (allow_failure === 1 && (status === 'failed' || status === 'canceled'));

const waitedFor = (all: readonly ProcessJob[], one: ProcessJob): ProcessJob[] =>
  all.filter((other) =>
    one.needs === null ? other.stage_position < one.stage_position : one.needs.includes(other.name),
  );

/** Whether the job runs. Null: it waits. */
const isToRun = (all: readonly ProcessJob[], one: ProcessJob): boolean | null => {
  const before = waitedFor(all, one);
  const isMissed = (other: ProcessJob) =>
    other.status === 'skipped' || (other.status === 'manual' && other.allow_failure === 1);
  const misses = one.needs !== null && before.some(isMissed);
  const needsSuccess = one.run_when !== 'always' && one.run_when !== 'on_failure';
  if (misses && needsSuccess) return false;
  if (!before.every(isOver)) return null;
  if (one.run_when === 'always') return true;
  if (one.run_when === 'on_failure') return !misses && before.some((other) => isBad(other, 'failed'));
  return one.needs === null
    ? !before.some((other) => isBad(other, 'failed', 'canceled'))
    : before.every(hasRun);
};

const whereTo = (one: ProcessJob, runs: boolean): JobStatus => {
  if (!runs) return 'skipped';
  if (one.run_when === 'manual') return 'manual';
  if (one.run_when === 'delayed') return 'scheduled';
  return one.resource_group === null ? 'pending' : 'waiting_for_resource';
};

/** Advances one job at a time until none can advance. */
const model = (jobs: readonly ProcessJob[]): ProcessJob[] => {
  const now = jobs.map((one) => ({ ...one }));
  for (;;) {
    const next = now.find((one) => one.status === 'created' && isToRun(now, one) !== null);
    if (next === undefined) return now;
    next.status = whereTo(next, isToRun(now, next) === true);
  }
};

const after = (jobs: readonly ProcessJob[]): ProcessJob[] => {
  const steps = computeNextStatuses(jobs);
  return jobs.map((one) => ({ ...one, status: steps.get(one.id) ?? one.status }));
};

const anyStatus = fc.constantFrom<JobStatus>(
  'created',
  'created',
  'created',
  'pending',
  'running',
  'canceling',
  'success',
  'success',
  'failed',
  'canceled',
  'skipped',
  'manual',
  'scheduled',
  'waiting_for_resource',
);

/** `needs` point backwards in the list. The list is not ordered by stage, so they may point to the same or a later stage. */
const anyPipeline = (statuses: fc.Arbitrary<JobStatus>): fc.Arbitrary<ProcessJob[]> =>
  fc
    .array(
      fc.record({
        stage_position: fc.integer({ min: 1, max: 3 }),
        status: statuses,
        run_when: fc.constantFrom<ProcessJob['run_when']>(
          'on_success',
          'on_success',
          'on_failure',
          'always',
          'manual',
          'delayed',
        ),
        allow_failure: fc.constantFrom(0 as const, 1 as const),
        resource_group: fc.constantFrom(null, null, 'one'),
        needed: fc.option(fc.array(fc.nat(9), { maxLength: 3 })),
      }),
      { minLength: 1, maxLength: 9 },
    )
    .map((list) =>
      list
        .map(({ needed, ...one }, index) => {
          const needs = needed?.flatMap((back) => (back < index ? [`j${index - back - 1}`] : [])) ?? null;
          // Needs and stages of a pipeline never form a cycle.
          const names = needs?.filter(
            (name) => (list[Number(name.slice(1))]?.stage_position ?? 9) <= one.stage_position,
          );
          return { ...job('a', one), id: index + 1, name: `j${index}`, needs: names ?? null };
        })
        .toReversed(),
    );

describe('created jobs', () => {
  it('advance as the rules say, from any state', () => {
    fc.assert(
      fc.property(anyPipeline(anyStatus), (jobs) => assert.deepEqual(after(jobs), model(jobs))),
      { numRuns: times(2_000, 500) },
    );
  });

  it('all end, for every outcome of the running jobs', () => {
    const ends = fc.infiniteStream(fc.constantFrom<JobStatus>('success', 'success', 'failed', 'canceled'));
    fc.assert(
      fc.property(anyPipeline(fc.constant('created')), ends, (jobs, results) => {
        let now = after(jobs);
        const begun = () => now.find((one) => !isOver(one) && one.status !== 'created');
        for (let next = begun(); next !== undefined; next = begun()) {
          next.status = results.next().value ?? 'success';
          now = after(now);
        }
        assert.ok(now.every(isOver), 'none waits while nothing runs');
        assert.ok(isEnded(combineStatuses(now)));
      }),
    );
  });

  it('stay unchanged when processed again', () => {
    fc.assert(
      fc.property(anyPipeline(anyStatus), (jobs) => assert.equal(computeNextStatuses(after(jobs)).size, 0)),
    );
  });
});

describe('a job', () => {
  const failed = job('a', { status: 'failed' });
  const of = (overrides: Partial<ProcessJob>) => job('b', { stage_position: 2, ...overrides });

  it('of the first stage starts at once, one of the second after the first', () => {
    assert.deepEqual(step(job('a'), of({})), { a: 'pending' });
    assert.deepEqual(step(job('a', { status: 'success' }), of({})), { b: 'pending' });
  });

  it('with empty needs starts at once, in any stage', () => {
    assert.deepEqual(step(job('a'), of({ needs: [] })), { a: 'pending', b: 'pending' });
  });

  it('is skipped after a failure, unless it runs on failure or always', () => {
    assert.deepEqual(step(failed, of({})), { b: 'skipped' });
    assert.deepEqual(step(failed, of({ run_when: 'on_failure' })), { b: 'pending' });
    assert.deepEqual(step(failed, of({ run_when: 'always' })), { b: 'pending' });
    assert.deepEqual(step(job('a', { status: 'success' }), of({ run_when: 'on_failure' })), { b: 'skipped' });
  });

  it('a job starts after an allowed failure in an earlier stage', () => {
    assert.deepEqual(step({ ...failed, allow_failure: 1 }, of({})), { b: 'pending' });
    assert.deepEqual(step({ ...failed, allow_failure: 1 }, of({ needs: ['a'] })), { b: 'pending' });
  });

  it('waits for a manual start, and blocks others only if it may not fail', () => {
    const manual = { run_when: 'manual' } as const;
    assert.deepEqual(step(job('a', { ...manual, allow_failure: 1 }), of({})), { a: 'manual', b: 'pending' });
    assert.deepEqual(step(job('a', manual), of({})), { a: 'manual' });
  });

  it('that needs an unstarted manual job is skipped', () => {
    const manual = job('a', { run_when: 'manual', allow_failure: 1 });
    assert.deepEqual(step(manual, of({ needs: ['a'] })), { a: 'manual', b: 'skipped' });
  });

  it('is skipped with the jobs that it needs, at any depth', () => {
    assert.deepEqual(step(failed, of({ needs: ['a'] }), job('c', { stage_position: 2, needs: ['b'] })), {
      b: 'skipped',
      c: 'skipped',
    });
  });

  it('that was skipped may run again when an earlier or needed job runs again', () => {
    const jobs = [
      job('a', { status: 'failed' }),
      job('b', { status: 'skipped', needs: ['a'] }),
      job('c', { status: 'skipped', needs: ['b'] }),
      job('d', { status: 'skipped' }),
      job('e', { status: 'skipped', stage_position: 2 }),
      job('f', { status: 'success', stage_position: 2 }),
    ];
    const names = findRestartable(jobs, jobs.slice(0, 1)).map(({ name }) => name);
    assert.deepEqual(names, ['b', 'c', 'e']);
  });
});
