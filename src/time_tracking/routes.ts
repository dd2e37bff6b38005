/** The five calls that track time, for any noun. */
import { type Call, endpoint } from '../access/call.ts';
import { forbidden } from '../errors.ts';
import { id, idOrPath, object, text } from '../http/schema.ts';
import type { Found, Noun } from '../issuables/target.ts';
import {
  type Stats,
  type Step,
  changeTimes,
  estimateStep,
  resetEstimateStep,
  resetSpentStep,
  spendStep,
} from './change.ts';
import { timeStats, timeStatsShape } from './json.ts';

const findToUpdate = async (noun: Noun, call: Call, params: Record<string, unknown>): Promise<Found> => {
  const found = await findByParams(noun, call, params);
  if (!noun.mayUpdate(call, found)) throw forbidden();
  return found;
};

const findByParams = async (noun: Noun, call: Call, params: Record<string, unknown>): Promise<Found> =>
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
      handle: async (call, given) => {
        const found = await findToUpdate(noun, call, given);
        return timeStats(await changeTimes(noun, call, found, stepOf(given.duration)));
      },
    });

  const reset = (name: string, summary: string, step: (now: Stats) => Step | null) =>
    endpoint({
      method: 'POST',
      path: `${path}/${name}`,
      summary,
      ...shared,
      params: object(params),
      handle: async (call, given) => {
        const found = await findToUpdate(noun, call, given);
        return timeStats(await changeTimes(noun, call, found, step));
      },
    });

  return [
    withDuration('time_estimate', `Set the time estimate of a ${noun.word}`, estimateStep),
    reset('reset_time_estimate', `Reset the time estimate of a ${noun.word}`, resetEstimateStep),
    withDuration('add_spent_time', `Add spent time to a ${noun.word}`, spendStep),
    reset('reset_spent_time', `Reset the spent time of a ${noun.word}`, resetSpentStep),
    endpoint({
      method: 'GET',
      path: `${path}/time_stats`,
      summary: `Time stats of a ${noun.word}`,
      ...shared,
      params: object(params),
      handle: async (call, given) => timeStats((await findByParams(noun, call, given)).target),
    }),
  ];
};
