import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { mock, test } from 'node:test';
import { Handle } from './sqlite_handle.ts';

test('keeps the statements that are used, however many others there are', () => {
  const database = new DatabaseSync(':memory:');
  const handle = new Handle(database);
  const prepare = (text: string) => DatabaseSync.prototype.prepare.call(database, text);
  const prepared = mock.method(database, 'prepare', prepare).mock;
  const countOf = (text: string): number =>
    prepared.calls.filter(({ arguments: [sql] }) => sql === text).length;
  const often = 'select 0 as often';
  handle.run(often, []);
  for (let at = 1; at <= 1_200; at += 1) {
    handle.run(`select ${at} as once`, []);
    if (at % 100 === 0) handle.run(often, []);
  }
  assert.equal(countOf(often), 1);
  handle.run('select 1 as once', []);
  assert.equal(countOf('select 1 as once'), 2, 'the others are dropped');
  database.close();
});
