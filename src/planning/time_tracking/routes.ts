/** The five endpoints of time tracking, for any noun. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { forbidden } from '../../platform/errors.ts';
import { id, idOrPath, object, optional, text } from '../../platform/http/schema.ts';
import { type LoadedTarget, type Noun, withArticle } from '../issuables/target.ts';
import {
  type Stats,
  type Step,
  changeTimes,
  estimateStep,
  resetEstimateStep,
  resetSpentStep,
  spendStep,
} from './change_times.ts';
import { timeStats, timeStatsShape } from './json.ts';

const findToUpdate = async (
  noun: Noun,
  call: Call,
  params: Record<string, unknown>,
): Promise<LoadedTarget> => {
  const loaded = await findByParams(noun, call, params);
  if (!noun.mayUpdate(call, loaded)) throw forbidden();
  return loaded;
};

const findByParams = async (noun: Noun, call: Call, params: Record<string, unknown>): Promise<LoadedTarget> =>
  await noun.find(call, params['id'] as number | string, params[noun.param] as number);

export const timeTrackingRoutes = (noun: Noun) => {
  const path = `/projects/:id/${noun.segment}/:${noun.param}`;
  const params = { id: idOrPath('project'), [noun.param]: id(`iid of the ${noun.word}`) };
  const shared = { area: noun.segment, audience: 'user' as const, reply: timeStatsShape };
  const duration = text({ description: 'such as 3h30m' });

  /** @param toStep called after the authorization; it may refuse the input */
  const changed = async (
    call: Call,
    input: Record<string, unknown>,
    toStep: () => (now: Stats) => Step | null,
  ): Promise<ReturnType<typeof timeStats>> => {
    const loaded = await findToUpdate(noun, call, input);
    return timeStats(await changeTimes(noun, call, loaded, toStep()));
  };

  const reset = (name: string, summary: string, step: (now: Stats) => Step | null) =>
    endpoint({
      method: 'POST',
      path: `${path}/${name}`,
      summary,
      ...shared,
      params: object(params),
      handle: async (call, input) => await changed(call, input, () => step),
    });

  return [
    endpoint({
      method: 'POST',
      path: `${path}/time_estimate`,
      summary: `Set the time estimate of ${withArticle(noun.word)}`,
      ...shared,
      params: object({ ...params, duration }),
      handle: async (call, input) => await changed(call, input, () => estimateStep(input.duration)),
    }),
    reset('reset_time_estimate', `Reset the time estimate of ${withArticle(noun.word)}`, resetEstimateStep),
    endpoint({
      method: 'POST',
      path: `${path}/add_spent_time`,
      summary: `Add spent time to ${withArticle(noun.word)}`,
      ...shared,
      params: object({
        ...params,
        duration,
        summary: optional(text({ description: 'what the time was spent on' })),
      }),
      handle: async (call, { duration: spent, summary, ...named }) =>
        await changed(call, named, () => spendStep(spent, { ...(summary !== undefined && { summary }) })),
    }),
    reset('reset_spent_time', `Reset the spent time of ${withArticle(noun.word)}`, resetSpentStep),
    endpoint({
      method: 'GET',
      path: `${path}/time_stats`,
      summary: `Get the time statistics of ${withArticle(noun.word)}`,
      ...shared,
      params: object(params),
      handle: async (call, params) => timeStats((await findByParams(noun, call, params)).target),
    }),
  ];
};
