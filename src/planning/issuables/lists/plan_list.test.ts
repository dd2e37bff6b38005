/** Tests which pages of lists are read in a worker thread. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageRequest } from '../../../platform/http/page.ts';
import type { Scope } from './list_kind.ts';
import { type Plan, readsMany } from './plan_list.ts';

const filters = { scope: 'all', state: 'all', order_by: 'created_at', sort: 'desc' } as const;
const plan = { comparesTexts: false, lead: {} } as Plan;
const project = { project: { id: 1 } } as Scope;

test('late pages leave the main thread, those of several projects early', () => {
  const reads = (scope: Scope, offset: number) =>
    readsMany({ scope, filters, page: { ...pageRequest({}), offset } }, plan);
  for (const [scope, most] of [
    [project, 20_000],
    [{ group_id: 1 }, 1_000],
    ['everywhere', 1_000],
  ] as const)
    assert.deepEqual([reads(scope, most), reads(scope, most + 1)], [false, true]);
});
