/** Checks the table of background work for failed work and for work that is overdue. */
import type { Store } from '../../../platform/db/open.ts';
import { type WorkFigures, loadWorkFigures } from '../../../platform/queue/inspect_work.ts';
import { formatTime, hourMilliseconds } from '../../../platform/time.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Milliseconds after which waiting work counts as overdue. */
const longWait = hourMilliseconds;

const lateAdvice = 'check that the service runs, then inspect the work with "gantry admin work list"';

const sum = (figures: readonly WorkFigures[], name: 'waiting' | 'running' | 'failed'): number =>
  figures.reduce((total, one) => total + one[name], 0);

const earliest = (figures: readonly WorkFigures[], name: 'oldest' | 'due'): number | null => {
  const times = figures.map((one) => one[name]).filter((time) => time !== null);
  return times.length === 0 ? null : Math.min(...times);
};

const failedKinds = (figures: readonly WorkFigures[]): string =>
  figures
    .filter(({ failed }) => failed > 0)
    .map(({ name, failed }) => `${name} (${failed})`)
    .join(', ');

export const checkWork = async ({ db }: Store, now: number): Promise<Finding[]> => {
  const figures = await loadWorkFigures(db, now);
  const failed = sum(figures, 'failed');
  const due = earliest(figures, 'due');
  const depth = `${sum(figures, 'waiting')} waiting, ${sum(figures, 'running')} running`;
  const oldest = earliest(figures, 'oldest');
  const detail = oldest === null ? depth : `${depth}, the oldest since ${formatTime(oldest)}`;
  const advice =
    'see why with "gantry admin work list --state failed", then run "gantry admin work retry --all"';
  return [
    due !== null && now - due > longWait
      ? warn('work', `${detail}; due since ${formatTime(due)}`, lateAdvice)
      : ok('work', detail),
    failed === 0 ? ok('failed work', 'none') : fail('failed work', failedKinds(figures), advice),
  ];
};
