/** SQLite's index of trigrams: filled behind the requests, and a search answers the same before and after. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { pino } from 'pino';
import { seedIssue, seedMergeRequest, seedProject, unique } from '../../../../test/support/seed.ts';
import { type TestService, engine, startTestService } from '../../../../test/support/service.ts';
import { purgeProject } from '../../../projects/projects/removal/purge.ts';
import { type SearchTable, searchTables } from './search.ts';
import { fillSearchIndexes, keepSearchIndexed } from './fill_search_index.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const isSqlite = engine === 'sqlite';
const getStore = () => gantry.service.platform.store;
const fill = async (): Promise<void> => await fillSearchIndexes(getStore());

/** How many rows wait. */
const waiting = async ({ table }: SearchTable): Promise<number> => {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from ${sql.table(table)} where indexed = 0`.execute(getStore().db);
  return Number(rows[0]?.total);
};

/** What the index itself holds. */
const indexed = async ({ table }: SearchTable, text: string): Promise<number[]> => {
  const index = sql.table(`${table}_index`);
  const { rows } = await sql<{ rowid: number }>`
    select rowid from ${index} where ${index} match ${`"${text}"`} order by rowid`.execute(getStore().db);
  return rows.map(({ rowid }) => rowid);
};

const kinds = [
  { list: 'issues', place: searchTables.Issue, seed: seedIssue },
  { list: 'merge_requests', place: searchTables.MergeRequest, seed: seedMergeRequest },
] as const;

for (const { list, place: searchTable, seed } of kinds) {
  describe(`a search of ${list}`, () => {
    let project: number;
    before(async () => {
      project = (await seedProject(gantry)).id;
    });

    const search = async (text: string): Promise<number[]> => {
      const path = `/projects/${project}/${list}?search=${encodeURIComponent(text)}&sort=asc`;
      const { status, body } = await gantry.api(`GET ${path}`);
      assert.equal(status, 200);
      return body.map(({ iid }: { iid: number }) => iid);
    };
    const make = async (title: string, description = ''): Promise<{ id: number; iid: number }> =>
      await seed(gantry, { project, title, description });

    it('finds the same before its text is in the index and after', async () => {
      const word = unique('needle');
      const { id, iid } = await make(`The ${word}`, 'In the haystack');
      assert.deepEqual(await search(word), [iid]);
      await fill();
      if (isSqlite)
        assert.deepEqual([await waiting(searchTable), await indexed(searchTable, word)], [0, [id]]);
      assert.deepEqual(await search(word), [iid]);
      assert.deepEqual(await search(`${word} nowhere`), []);
      await fill();
      assert.deepEqual(await search(word), [iid]);
    });

    it('finds what was edited by its new words alone, before they are in the index and after', async () => {
      const [old, fresh] = [unique('former'), unique('newer')];
      const { id, iid } = await make(old);
      await fill();
      const { status } = await gantry.api(`PUT /projects/${project}/${list}/${iid}`, {
        json: { title: fresh },
      });
      assert.equal(status, 200);
      assert.deepEqual([await search(old), await search(fresh)], [[], [iid]]);
      await fill();
      assert.deepEqual([await search(old), await search(fresh)], [[], [iid]]);
      if (isSqlite)
        assert.deepEqual([await indexed(searchTable, old), await indexed(searchTable, fresh)], [[], [id]]);
    });

    it('does not find what was deleted', async () => {
      const word = unique('gone');
      const { iid } = await make(word);
      await fill();
      const { status } = await gantry.api(`DELETE /projects/${project}/${list}/${iid}`);
      assert.equal(status, 204);
      assert.deepEqual(await search(word), []);
    });

    it('of a very long text compares it, as the index never holds that', async () => {
      const word = unique('long');
      const { iid } = await make('Long', `${'x'.repeat(200_000)} ${word}`);
      await fill();
      if (isSqlite) assert.deepEqual(await indexed(searchTable, word), []);
      assert.deepEqual(await search(word), [iid]);
    });

    it('leaves nothing in the index of a project that is purged', async () => {
      const word = unique('purged');
      const { id: doomed } = await seedProject(gantry);
      await seed(gantry, { project: doomed, title: word });
      await fill();
      if (isSqlite) assert.equal((await indexed(searchTable, word)).length, 1);
      await getStore().write(
        async ({ db, now }) =>
          await db.updateTable('projects').set({ deleted_at: now }).where('id', '=', doomed).execute(),
      );
      assert.equal(await purgeProject(getStore(), doomed), true);
      if (isSqlite) assert.deepEqual(await indexed(searchTable, word), []);
    });
  });
}

describe('the index', { skip: !isSqlite }, () => {
  const log = pino({ level: 'silent' });
  const { Issue: searchTable } = searchTables;

  const untilIndexed = async (word: string): Promise<void> => {
    while ((await indexed(searchTable, word)).length === 0) {
      await new Promise((resolve) => void setTimeout(resolve, 5));
    }
  };

  it('takes more than one transaction holds, each of a bounded size', async () => {
    const { id: project } = await seedProject(gantry);
    const word = unique('several');
    for (let at = 0; at < 5; at += 1) {
      await seedIssue(gantry, { project, title: word, description: 'words '.repeat(5_000) });
    }
    let rests = 0;
    await fillSearchIndexes(getStore(), async () => {
      rests += 1;
      return true;
    });
    assert.equal((await indexed(searchTable, word)).length, 5);
    assert.ok(rests >= 3, `${rests} transactions`);
  });

  // The index tells row ids of its own beyond 2^53 when it marks what is gone.
  it('removes several texts one at a time, repeatedly', async () => {
    const { id: project } = await seedProject(gantry);
    const texts = Array.from({ length: 12 }, () => unique('marked'));
    const ids: number[] = [];
    for (const title of texts) {
      ids.push((await seedIssue(gantry, { project, title })).id);
      await fill();
    }
    for (const some of [ids.slice(0, 1), ids.slice(1, 3), ids.slice(3, 9), ids.slice(9)]) {
      await getStore().write(
        async ({ db }) =>
          await sql`delete from ${sql.table(`${searchTable.table}_index`)} where rowid in (${sql.join(some)})`.execute(
            db,
          ),
      );
    }
    for (const text of texts) assert.deepEqual(await indexed(searchTable, text), []);
  });

  it('is filled at the start with what waited, and then with each change', async () => {
    const { id: project } = await seedProject(gantry);
    const [first, second] = [unique('waited'), unique('came')];
    await seedIssue(gantry, { project, title: first });
    const stop = keepSearchIndexed({ store: getStore(), log }, { quiet: 5, maxDelay: 10 });
    await untilIndexed(first);
    await gantry.api(`POST /projects/${project}/issues`, { json: { title: second } });
    await untilIndexed(second);
    await stop();
  });
});
