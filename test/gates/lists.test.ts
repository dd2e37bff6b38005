/**
 * The cost of a list, counted instead of timed: statements per request, and on SQLite the query plans, over a project
 * with some thousand issues and merge requests of which most have the same label.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { loggedRequest } from '../support/request_log.ts';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { recordStatements } from '../support/record_statements.ts';
import { type TestService, engine, startTestService } from '../support/service.ts';
import { type Skewed, listsOf, makeSkewed } from './skewed.ts';
import { fillRequests, requestListsOf } from './skewed_requests.ts';
import { sample } from '../support/run/sample.ts';

const mostStatements = 8;

let gantry: TestService;
let skewed: Skewed;

/** Every statement that the service ran since it started. */
const texts = new Set<string>();
const stop = recordStatements((text) => void texts.add(text));

before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'info' });
  skewed = await makeSkewed(gantry);
  await fillRequests(gantry, skewed);
  // The use of a token is recorded after the first request with it.
  await gantry.api('GET /version', { as: skewed.user.token });
  await gantry.service.platform.store.write(async () => undefined);
});
after(async () => {
  stop();
  await gantry.close();
});

const lists = (): string[] => [...listsOf(skewed), ...requestListsOf(skewed)];

/** Counts the statements of the next request, without cached state. */
const statementsOf = async (path: string, as: string): Promise<number> => {
  // Renaming a label invalidates every cached page and text.
  const name = `common`;
  await gantry.api(`PUT /projects/${skewed.project.id}/labels`, { json: { name, new_name: 'other' } });
  await gantry.api(`PUT /projects/${skewed.project.id}/labels`, { json: { name: 'other', new_name: name } });
  const { status, headers } = await gantry.api(`GET ${path}`, { as });
  assert.equal(status, 200, path);
  return (await loggedRequest(gantry, headers)).statements;
};

test('lists in at most eight statements, whatever the page length', async () => {
  const some = sample(
    lists(),
    4,
    (path) => path,
    (path) => path.split('?')[0] ?? '',
  );
  for (const path of some) {
    const short = await statementsOf(`${path}&per_page=3`, skewed.user.token);
    const long = await statementsOf(`${path}&per_page=100`, skewed.user.token);
    assert.ok(long <= mostStatements, `${path}: ${long} statements`);
    // A page that holds everything needs neither a count nor a check of a cached one.
    assert.ok(Math.abs(long - short) <= 2, `${path}: ${short} statements for a page of 3, ${long} for 100`);
  }
});

test('lists labels as objects in one more statement', async () => {
  for (const kind of ['issues', 'merge_requests']) {
    const path = `/projects/${skewed.project.id}/${kind}?per_page=100`;
    const plain = await statementsOf(path, skewed.user.token);
    const detailed = await statementsOf(`${path}&with_labels_details=true`, skewed.user.token);
    assert.equal(detailed, plain + 1, kind);
  }
});

test('reads one issue or merge request in at most eight statements', async () => {
  for (const list of ['issues', 'merge_requests']) {
    const asked = await statementsOf(`/projects/${skewed.project.id}/${list}/2`, skewed.user.token);
    assert.ok(asked <= mostStatements, `${list}: ${asked} statements`);
  }
});

/** Statements that read issues or merge requests, or what leads to them. */
const readsListed = (text: string): boolean =>
  /^\s*select\b/i.test(text) &&
  /\bfrom\s+"?(issues|merge_requests|label_links|assignees|reviewers)\b/i.test(text);

const planOf = (database: DatabaseSync, text: string): string[] => {
  const rows = database.prepare(`explain query plan ${text}`).all() as { detail: string }[];
  return rows.map(({ detail }) => detail);
};

/** Bad plans, as `[plan, statement]`. */
const faultsOf = (database: DatabaseSync, reads: readonly string[]): [string, string][] =>
  reads.flatMap((text) => {
    const plan = planOf(database, text);
    const bare = plan.filter((detail) =>
      /^SCAN (issues|merge_requests|\w+_search|label_links|assignees|reviewers|led)\b(?!.*USING)/.test(
        detail,
      ),
    );
    // Only a search, sets of iids, of authors and of links, the caller's own reactions, a period of merging and due
    // issues of a project may sort their few results.
    const isFree =
      !isUsual(text) ||
      /_search|(issues|merge_requests)"?\."?iid"? in|award_emoji|due_date/.test(text) ||
      /author_id" in|select distinct target_id|merged_at, 0\) >=/.test(text);
    const sorts = isFree ? [] : plan.filter((detail) => detail.includes('TEMP B-TREE FOR ORDER BY'));
    // Of the milestones of a place, the next is looked for: they are sorted, what is on it is not.
    if (/\bas coming\b/.test(text)) sorts.shift();
    // The records of a late page are sorted once more after they were loaded.
    if (/\bas page_id\b/.test(text)) sorts.shift();
    return [...bare, ...sorts].map((detail): [string, string] => [detail, text]);
  });

const isUsual = (text: string): boolean =>
  /order by ("?(issues|merge_requests)"?\."?created_at|led\.)/i.test(text);

test(
  'uses an index for every list, and sorts none in its default order, with or without statistics',
  { skip: engine !== 'sqlite' },
  async () => {
    for (const path of lists()) await gantry.api(`GET ${path}&per_page=5`, { as: skewed.user.token });
    const database = new DatabaseSync(join(gantry.service.platform.config.data, 'gantry.sqlite'));
    const reads = [...texts].filter(readsListed);
    assert.ok(reads.length > 20, `${reads.length} statements were seen`);
    const usual = reads.filter(isUsual);
    assert.ok(usual.length > 5, `${usual.length} lists in their usual order`);
    assert.deepEqual(faultsOf(database, reads), []);
    database.exec('analyze');
    // So few assignees are cheaper to scan, and statistics show it.
    const withStatistics = faultsOf(database, reads).filter(
      ([plan]) => !['SCAN assignees', 'SCAN reviewers'].includes(plan),
    );
    assert.deepEqual(withStatistics, []);
    database.close();
  },
);
