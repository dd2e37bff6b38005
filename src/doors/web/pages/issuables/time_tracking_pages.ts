/** Handles the form that changes the time tracking of an issue or merge request. */
import type { LoadedTarget } from '../../../../planning/issuables/target.ts';
import {
  changeTimes,
  estimateStep,
  resetEstimateStep,
  spendStep,
} from '../../../../planning/time_tracking/change_times.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { page } from '../../page.ts';
import { type IssuableKind, recordParams } from './issuable_kind.ts';
import { findEditable } from './find_editable.ts';
import { submitForm } from './submit_form.ts';

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

export const timeTrackingPages = <L extends LoadedTarget>(kind: IssuableKind<L>) => [timePage(kind)];
