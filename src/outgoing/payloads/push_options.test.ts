import assert from 'node:assert/strict';
import { it } from 'node:test';
import { groupPushOptions } from './push_options.ts';

it('groups push options by namespace, counts those that repeat, and leaves out unknown ones', () => {
  const options = [
    'ci.skip',
    'mr.create',
    'merge_request.title=A = b',
    'merge_request.label=x',
    'merge_request.label=y',
    'merge_request.label=x',
    'secret.key=1',
    '__proto__.x=1',
    'nonsense',
  ];
  assert.deepEqual(groupPushOptions(options), {
    ci: { skip: true },
    merge_request: { create: true, title: 'A = b', label: { x: 2, y: 1 } },
  });
  assert.deepEqual(groupPushOptions([]), {});
});
