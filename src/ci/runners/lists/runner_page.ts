import type { RawBuilder } from 'kysely';
import type { Static } from 'typebox';
import type { Call } from '../../../core/access/call.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { object } from '../../../platform/http/schema.ts';
import { toRunnerJson } from '../json.ts';
import { filterParams, readFilters } from '../params.ts';
import { listRunners } from './queries.ts';

/** Parameters of every list of runners. */
export const listParams = { ...filterParams, ...pageParams };

const shape = object(listParams);

/**
 * Loads one page of a list of runners.
 * @param which condition over `runners`
 */
export const listRunnerPage = async (call: Call, which: RawBuilder<boolean>, input: Static<typeof shape>) => {
  const { items, total } = await listRunners(call, which, readFilters(input), pageRequest(input));
  return { items: items.map((runner) => toRunnerJson(runner, call.now)), total };
};
