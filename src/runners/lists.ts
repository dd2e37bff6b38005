import type { RawBuilder } from 'kysely';
import type { Static } from 'typebox';
import type { Call } from '../access/call.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { object } from '../http/schema.ts';
import { runnerJson } from './json.ts';
import { filterParams, filtersGiven } from './params.ts';
import { listRunners } from './queries.ts';

/** The parameters of every list of runners. */
export const listParams = { ...filterParams, ...pageParams };

const shape = object(listParams);

/**
 * One page of the runners that a list is of.
 * @param which over `runners`
 */
export const runnerPage = async (call: Call, which: RawBuilder<boolean>, given: Static<typeof shape>) => {
  const { items, total } = await listRunners(call, which, filtersGiven(given), pageRequest(given));
  return { items: items.map((runner) => runnerJson(runner, call.now)), total };
};
