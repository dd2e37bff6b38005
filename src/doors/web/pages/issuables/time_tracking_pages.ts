/** Handles the forms that change the time tracking of an issue or merge request, and delete an entry of it. */
import type { Call } from '../../../../core/access/call.ts';
import { today } from '../../../../core/access/viewer.ts';
import type { LoadedTarget } from '../../../../planning/issuables/target.ts';
import {
  changeTimes,
  estimateStep,
  type SpentDetails,
  type Stats,
  type Step,
  resetEstimateStep,
  spendStep,
} from '../../../../planning/time_tracking/change_times.ts';
import { deleteTimeEntry } from '../../../../planning/time_tracking/delete_time_entry.ts';
import { invalid } from '../../../../platform/errors.ts';
import { clearable, date, id, object, optional, text } from '../../../../platform/http/schema.ts';
import { page } from '../../page.ts';
import { type IssuableKind, recordParams } from './issuable_kind.ts';
import { findEditable } from './find_editable.ts';
import { submitForm } from './submit_form.ts';

type Spent = { spend: string; summary: string; spent_on: string | null };

/**
 * Returns the step that stores an entry; none if the form has no duration.
 * @throws Failure 400 for a summary or day without a duration, and for a day to come
 */
const toSpendSteps = ({ now }: Call, { spend, summary, spent_on }: Spent): ReturnType<typeof spendStep>[] => {
  if (spend === '') {
    if (summary === '' && spent_on === null) return [];
    throw invalid({ spend: ["can't be blank"] });
  }
  if (spent_on !== null && spent_on > today(now)) throw invalid({ spent_on: ["can't be in the future"] });
  // An entry of today has no day of its own: lists show when it was made.
  const details: SpentDetails = { summary, spent_on: spent_on === today(now) ? null : spent_on };
  return [spendStep(spend, details)];
};

const timePage = <L extends LoadedTarget>(kind: IssuableKind<L>) =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:iid/time`,
    audience: 'user',
    params: object({
      ...recordParams,
      time_estimate: optional(text()),
      shown_time_estimate: optional(text()),
      spend: optional(text()),
      summary: optional(text()),
      spent_on: optional(clearable(date())),
    }),
    handle: async (visit, { time_estimate, shown_time_estimate: shown, ...sent }) => {
      const { call } = visit;
      const { spend = '', summary = '', spent_on = null, ...named } = sent;
      const spent = { spend: spend.trim(), summary: summary.trim(), spent_on };
      const loaded = await findEditable(kind, call, named);
      return await submitForm({ kind, visit, loaded }, async () => {
        const estimate = time_estimate?.trim();
        const steps: ((now: Stats) => Step | null)[] = [
          ...(estimate === undefined || estimate === shown
            ? []
            : [estimate === '' ? resetEstimateStep : estimateStep(estimate)]),
          ...toSpendSteps(call, spent),
        ];
        for (const step of steps) await changeTimes(kind.noun, call, loaded, step);
      });
    },
  });

const deletePage = <L extends LoadedTarget>(kind: IssuableKind<L>) =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:iid/time/:entry/delete`,
    audience: 'user',
    params: object({ ...recordParams, entry: id() }),
    handle: async (visit, { entry, ...named }) => {
      const { call } = visit;
      const loaded = await findEditable(kind, call, named);
      return await submitForm(
        { kind, visit, loaded },
        async () => await deleteTimeEntry(kind.noun, call, loaded, entry),
        { notice: 'The time entry was deleted.' },
      );
    },
  });

export const timeTrackingPages = <L extends LoadedTarget>(kind: IssuableKind<L>) => [
  timePage(kind),
  deletePage(kind),
];
