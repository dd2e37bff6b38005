import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireGrantable } from './rules.ts';
import { groupSource } from './member_source.ts';

test("refuses to grant a role above the caller's role", () => {
  const group = {
    type: 'Namespace',
    id: 1,
    namespace_id: 1,
    level: 30,
    mayRead: true,
    mayAdmin: true,
  } as const;
  const grant = (access_level: number) => () => requireGrantable(groupSource, group, { access_level }, 0);
  assert.doesNotThrow(grant(30));
  assert.throws(grant(40), { kind: 'forbidden' });
});
