import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configNames } from './fields.ts';
import { settingGroups } from './setting_groups.ts';

test('every setting of the process is in one group', () => {
  const names = settingGroups.flatMap((group) => group.names);
  assert.deepEqual(names.toSorted(), configNames.toSorted());
});
