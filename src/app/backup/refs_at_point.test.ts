/** Refs at the point of a snapshot: what moved since is undone. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { openTestStore, type TestStore } from '../../../test/support/databases/store.ts';
import { zeroOid } from '../../platform/git/protocol_types.ts';
import { type Refs, undoMoves } from './refs_at_point.ts';
import { openSnapshot, type Snapshot } from './snapshot.ts';

const oid = (letter: string): string => letter.repeat(40);
const [a, b, c] = [oid('a'), oid('b'), oid('c')];

let store: TestStore;
let folder: string;
let snapshot: Snapshot;
before(async () => {
  store = await openTestStore();
  folder = mkdtempSync(join(tmpdir(), 'gantry-snapshot-'));
  const file = join(folder, 'snapshot.sqlite');
  const database = new DatabaseSync(file);
  database.exec(`create table events (id integer primary key, project_id integer, kind text);
    create table git_operations (id integer primary key, project_id integer);
    insert into events values (1, 1, 'ref.updated')`);
  database.close();
  snapshot = openSnapshot(file);
});
after(async () => {
  snapshot.close();
  rmSync(folder, { recursive: true, force: true });
  await store.close();
});

let lastEvent = 1;
const event = async (project: number, ref: string, before: string, now: string): Promise<void> => {
  lastEvent += 1;
  const id = lastEvent;
  const data = JSON.stringify({ ref, before, after: now });
  await store.store.write(
    async ({ db }) =>
      await sql`insert into events (id, created_at, project_id, kind, target_type, target_id, data)
        values (${id}, 0, ${project}, 'ref.updated', 'Project', ${project}, ${data})`.execute(db),
  );
};

const at = async (projectId: number, current: [string, string][]): Promise<[string, string][]> => {
  const refs: Refs = await undoMoves(new Map(current), { db: store.store.db, snapshot, projectId });
  return [...refs];
};

test('leaves refs that did not move', async () => {
  assert.deepEqual(await at(2, [['refs/heads/main', a]]), [['refs/heads/main', a]]);
});

test('undoes a chain of moves, whatever order their transactions had', async () => {
  await event(3, 'refs/heads/main', b, c);
  await event(3, 'refs/heads/main', a, b);
  assert.deepEqual(await at(3, [['refs/heads/main', c]]), [['refs/heads/main', a]]);
});

test('undoes moves that happened after the refs were read', async () => {
  await event(4, 'refs/heads/main', a, b);
  assert.deepEqual(await at(4, [['refs/heads/main', a]]), [['refs/heads/main', a]]);
});

test('undoes a ref that moved away and back', async () => {
  await event(5, 'refs/heads/main', a, b);
  await event(5, 'refs/heads/main', b, a);
  assert.deepEqual(await at(5, [['refs/heads/main', b]]), [['refs/heads/main', a]]);
});

test('removes a branch that was created since, and brings back a deleted one', async () => {
  await event(6, 'refs/heads/new', zeroOid, a);
  await event(6, 'refs/heads/old', b, zeroOid);
  assert.deepEqual(
    await at(6, [
      ['refs/heads/main', c],
      ['refs/heads/new', a],
    ]),
    [
      ['refs/heads/main', c],
      ['refs/heads/old', b],
    ],
  );
});
