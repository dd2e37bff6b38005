/** The five endpoints of time tracking, for any noun. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { forbidden } from '../../platform/errors.ts';
import { id, idOrPath, object, text } from '../../platform/http/schema.ts';
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

  const withDuration = (
    name: string,
    summary: string,
    stepOf: (duration: string) => (now: Stats) => Step | null,
  ) =>
    endpoint({
      method: 'POST',
      path: `${path}/${name}`,
      summary,
      ...shared,
      params: object({ ...params, duration }),
      handle: async (call, params) => {
        const loaded = await findToUpdate(noun, call, params);
        return timeStats(await changeTimes(noun, call, loaded, stepOf(params.duration)));
      },
    });

  const reset = (name: string, summary: string, step: (now: Stats) => Step | null) =>
    endpoint({
      method: 'POST',
      path: `${path}/${name}`,
      summary,
      ...shared,
      params: object(params),
      handle: async (call, params) => {
        const loaded = await findToUpdate(noun, call, params);
        return timeStats(await changeTimes(noun, call, loaded, step));
      },
    });

  return [
    withDuration('time_estimate', `Set the time estimate of ${withArticle(noun.word)}`, estimateStep),
    reset('reset_time_estimate', `Reset the time estimate of ${withArticle(noun.word)}`, resetEstimateStep),
    withDuration('add_spent_time', `Add spent time to ${withArticle(noun.word)}`, spendStep),
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
