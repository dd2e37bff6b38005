/** Forms that change the times of a record and tick the tasks of its description. */
import type { Call } from '../../../../core/access/call.ts';
import type { LoadedTarget } from '../../../../planning/issuables/target.ts';
import { toggleTask } from '../../../../planning/issuables/text/tasks.ts';
import {
  changeTimes,
  estimateStep,
  resetEstimateStep,
  spendStep,
} from '../../../../planning/time_tracking/change_times.ts';
import { conflict } from '../../../../platform/errors.ts';
import { boolean, integer, object, optional, text } from '../../../../platform/http/schema.ts';
import { page } from '../../page.ts';
import { requireUnchanged } from '../../parts/timeline/edit_conflicts.ts';
import { type IssuableKind, oneRecord } from './issuable_kind.ts';
import { findEditable } from './find_editable.ts';
import { submitForm } from './submit_form.ts';

const timePage = <L extends LoadedTarget>(kind: IssuableKind<L>) =>
  page({
    method: 'POST',
    path: `${kind.served}/:iid/time`,
    audience: 'user',
    params: object({
      ...oneRecord,
      time_estimate: optional(text()),
      shown_time_estimate: optional(text()),
      spend: optional(text()),
    }),
    handle: async (visit, { time_estimate, shown_time_estimate: shown, spend = '', ...named }) => {
      const { call } = visit;
      const loaded = await findEditable(kind, call, named);
      return await submitForm({ kind, visit, loaded }, async () => {
        const estimate = time_estimate?.trim();
        const steps = [
          ...(estimate === undefined || estimate === shown
            ? []
            : [estimate === '' ? resetEstimateStep : estimateStep(estimate)]),
          ...(spend.trim() === '' ? [] : [spendStep(spend.trim())]),
        ];
        for (const step of steps) await changeTimes(kind.noun, call, loaded, step);
      });
    },
  });

type Tick = { line: number; done: boolean; base: string };

/** Parameters of a form that ticks a task. */
export const tickParams = {
  line: optional(integer({ minimum: 0 })),
  done: optional(boolean()),
  base: optional(text()),
};

/** Returns the text with its task set. @throws Failure 409 if the line is no task */
export const requireTask = (before: string, line: number, done: boolean): string => {
  const after = toggleTask(before, line, done);
  if (after === null) throw conflict('The text has no such task any more.');
  return after;
};

const tick = async <L extends LoadedTarget>(
  kind: IssuableKind<L>,
  call: Call,
  loaded: L,
  { line, done, base }: Tick,
): Promise<void> => {
  const description = requireTask(kind.texts(loaded).description ?? '', line, done);
  const check = (locked: L): void => requireUnchanged(base, kind.texts(locked), kind.noun.word);
  await kind.describe(call, loaded, description, check);
};

const tasksPage = <L extends LoadedTarget>(kind: IssuableKind<L>) =>
  page({
    method: 'POST',
    path: `${kind.served}/:iid/tasks`,
    audience: 'user',
    params: object({
      ...oneRecord,
      ...tickParams,
    }),
    handle: async (visit, { line = 0, done = false, base = '', ...named }) => {
      const loaded = await findEditable(kind, visit.call, named);
      const operation = async () => await tick(kind, visit.call, loaded, { line, done, base });
      return await submitForm({ kind, visit, loaded }, operation);
    },
  });

export const timeAndTaskPages = <L extends LoadedTarget>(kind: IssuableKind<L>) => [
  timePage(kind),
  tasksPage(kind),
];
