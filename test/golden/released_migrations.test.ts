import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MigrationText } from '../../src/platform/db/ddl_keywords.ts';
import { listReleased } from './released_migrations.ts';

const migration = (name: string, column: string): MigrationText => ({
  name,
  statements: ({ integer }) => [`create table lamps (${column} ${integer})`],
});

test('a released migration is not edited on either engine, nor removed', () => {
  const first = migration('0001_lamps', 'watts');
  const recorded = listReleased([first], []);
  assert.deepEqual(
    recorded.map((line) => line.split(' ').slice(0, 2)),
    [
      ['sqlite', '0001_lamps'],
      ['postgres', '0001_lamps'],
    ],
  );
  const second = migration('0002_more_lamps', 'volts');
  assert.equal(listReleased([first, second], recorded).length, 4);
  assert.throws(
    () => listReleased([migration('0001_lamps', 'lumens'), second], recorded),
    /edited or removed: sqlite 0001_lamps, postgres 0001_lamps\..* Undo that, and write a new migration/,
  );
  assert.throws(() => listReleased([second], recorded), /edited or removed: sqlite 0001_lamps/);
  const onlyPostgres: MigrationText = {
    name: '0001_lamps',
    statements: (ddl) => (ddl.engine === 'sqlite' ? first.statements(ddl) : ['select 1']),
  };
  assert.throws(() => listReleased([onlyPostgres], recorded), /removed: postgres 0001_lamps\./);
});

test('a migration after the latest release may still be edited', () => {
  assert.deepEqual(listReleased([migration('9999_lamps', 'watts')], []), []);
});
