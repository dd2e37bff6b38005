/**
 * What a list costs, counted instead of timed: statements a request, and on SQLite how they are planned, over a
 * project with some thousand issues of which most have the same label.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { foldCase } from '../../src/issuables/search_terms.ts';
import { seedMember, seedProject, seedUser, unique } from '../support/seed.ts';
import { type TestService, engine, startTestService } from '../support/service.ts';

const issues = 3000;
const mostStatements = 8;

let gantry: TestService;
let project: { id: number; full_path: string };
let group: string;
let user: { id: number; token: string };
let labels: { id: number; title: string }[];
let milestone: string;

/** Every statement that the service prepared since it started. */
const prepared = new Set<string>();
// oxlint-disable-next-line typescript/unbound-method -- it is called with its database
const { prepare } = DatabaseSync.prototype;

before(async () => {
  DatabaseSync.prototype.prepare = function recording(this: DatabaseSync, text: string): StatementSync {
    prepared.add(text);
    return prepare.call(this, text);
  };
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'info' });
  group = unique('skewed');
  const made = await gantry.api('POST /groups', { json: { name: group, path: group } });
  project = await seedProject(gantry, { namespace: made.body.id, visibility: 'private' });
  user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 30 });
  labels = [];
  for (const name of ['common', 'rare']) {
    const { body } = await gantry.api(`POST /projects/${project.id}/labels`, {
      json: { name, color: '#fff' },
    });
    labels.push({ id: body.id, title: name });
  }
  milestone = (await gantry.api(`POST /projects/${project.id}/milestones`, { json: { title: 'v1' } })).body;
  await fill();
});
after(async () => {
  DatabaseSync.prototype.prepare = prepare;
  await gantry.close();
});

/** In few large statements: that is not what is measured. */
const fill = async (): Promise<void> => {
  await gantry.service.platform.store.write(async ({ db, now }) => {
    const milestoneId = (milestone as unknown as { id: number }).id;
    const rows = Array.from({ length: issues }, (_, at) => ({
      project_id: project.id,
      iid: at + 1,
      title: `Issue ${at}`,
      description: at % 100 === 0 ? 'needle' : 'hay',
      state: at % 5 === 0 ? ('opened' as const) : ('closed' as const),
      author_id: at % 50 === 0 ? user.id : 1,
      milestone_id: at % 20 === 0 ? milestoneId : null,
      confidential: at % 10 === 0 ? (1 as const) : (0 as const),
      due_date: null,
      moved_to_id: null,
      closed_at: null,
      closed_by_id: null,
      created_at: now - at * 1000,
      updated_at: now - at * 500,
      deleted_at: null,
    }));
    for (let from = 0; from < issues; from += 500) {
      const part = rows.slice(from, from + 500);
      const ids = await db
        .insertInto('issues')
        .values(part)
        .returning(['id', 'iid', 'created_at', 'title'])
        .execute();
      const links = ids.flatMap(({ id, iid, created_at }) =>
        labels
          .filter(({ title }) => (title === 'common' ? iid % 10 !== 0 : iid % 500 === 0))
          .map((label) => ({
            target_type: 'Issue' as const,
            target_id: id,
            label_id: label.id,
            target_created_at: created_at,
          })),
      );
      await db.insertInto('label_links').values(links).execute();
      const assigned = ids.filter(({ iid }) => iid % 40 === 0);
      const rest = (one: (typeof ids)[number]) => ({ target_id: one.id, target_created_at: one.created_at });
      const fixed = { target_type: 'Issue' as const, user_id: user.id, position: 0 };
      await db
        .insertInto('assignees')
        .values(assigned.map((one) => ({ ...fixed, ...rest(one) })))
        .execute();
      const texts = ids.map(({ id, title, iid }) => ({
        issue_id: id,
        title: foldCase(title),
        description: iid % 100 === 1 ? 'needle' : 'hay',
      }));
      await db.insertInto('issue_search').values(texts).execute();
    }
    const opened = rows.filter(({ state }) => state === 'opened').length;
    const secret = rows.filter(({ confidential, state }) => confidential === 1 && state === 'opened').length;
    await db
      .updateTable('project_counters')
      .set({
        issue_iid: issues,
        opened_issues: opened,
        closed_issues: issues - opened,
        opened_confidential_issues: secret,
        closed_confidential_issues: rows.filter(({ confidential }) => confidential === 1).length - secret,
      })
      .where('project_id', '=', project.id)
      .execute();
  });
};

const filters = [
  '',
  'state=opened',
  'state=closed&sort=asc',
  'order_by=updated_at',
  'state=opened&order_by=updated_at&sort=asc',
  'labels=common',
  'labels=rare',
  'labels=common,rare',
  'labels=None',
  'milestone=v1',
  'author_id=USER',
  'assignee_id=USER',
  'assignee_id=None',
  'my_reaction_emoji=thumbsup',
  'iids[]=1&iids[]=2',
  'search=needle',
  'created_after=2020-01-01&created_before=2100-01-01',
];

const lists = (): string[] => {
  const places = [`/projects/${project.id}/issues?`, `/groups/${group}/issues?`, '/issues?scope=all&'];
  const all = places.flatMap((place) =>
    filters.map((filter) => place + filter.replace('USER', String(user.id))),
  );
  return [...all, '/issues?', '/issues?scope=assigned-to-me'];
};

type Line = { msg: string; statements: number };

/** Statements of the next request, nothing being known from an earlier one. */
const statementsOf = async (path: string, as: string): Promise<number> => {
  // A renamed label ages every kept page and text.
  const name = `common`;
  await gantry.api(`PUT /projects/${project.id}/labels`, { json: { name, new_name: 'other' } });
  await gantry.api(`PUT /projects/${project.id}/labels`, { json: { name: 'other', new_name: name } });
  const seen = gantry.logged().length;
  const { status } = await gantry.api(`GET ${path}`, { as });
  assert.equal(status, 200, path);
  const lines = gantry
    .logged()
    .slice(seen)
    .map((line) => JSON.parse(line) as Line);
  const line = lines.findLast(({ msg }) => msg === 'request');
  assert.ok(line);
  return line.statements;
};

test('a list asks the store at most eight times, however long its page is', async () => {
  for (const path of lists()) {
    const short = await statementsOf(`${path}&per_page=3`, user.token);
    const long = await statementsOf(`${path}&per_page=100`, user.token);
    assert.ok(long <= mostStatements, `${path}: ${long} statements`);
    // A page that holds all there is needs no count.
    assert.ok(Math.abs(long - short) <= 1, `${path}: ${short} statements for 3 issues, ${long} for 100`);
  }
});

test('one issue is read in at most eight statements', async () => {
  assert.ok((await statementsOf(`/projects/${project.id}/issues/1`, user.token)) <= mostStatements);
});

const planOf = (database: DatabaseSync, text: string): string[] => {
  const rows = prepare.call(database, `explain query plan ${text}`).all() as { detail: string }[];
  return rows.map(({ detail }) => detail);
};

test(
  'no list reads all issues without an index, and none sorts in its usual order',
  { skip: engine !== 'sqlite' },
  async () => {
    for (const path of lists()) await gantry.api(`GET ${path}&per_page=5`, { as: user.token });
    const database = new DatabaseSync(join(gantry.service.platform.config.data, 'gantry.sqlite'), {
      readOnly: true,
    });
    const reads = [...prepared].filter(
      (text) => /^\s*select\b/i.test(text) && /\bfrom\s+"?(issues|label_links|assignees)\b/i.test(text),
    );
    assert.ok(reads.length > 20, `${reads.length} statements were seen`);
    for (const text of reads) {
      for (const detail of planOf(database, text)) {
        const isBare = /^SCAN (issues|label_links|assignees|led)\b(?!.*USING)/.test(detail);
        assert.ok(!isBare, `${detail}\n${text}`);
      }
    }
    const usual = reads.filter((text) =>
      /order by issues\.created_at|order by "?issues"?\."?created_at|order by led\./i.test(text),
    );
    assert.ok(usual.length > 5, `${usual.length} lists in their usual order`);
    // Only a search, a set of iids and one's own reactions may sort what little they find.
    const free = /issue_search|issues"?\."?iid"? in|award_emoji/;
    for (const text of usual.filter((one) => !free.test(one))) {
      const sorts = planOf(database, text).filter((detail) => /TEMP B-TREE FOR ORDER BY/.test(detail));
      assert.deepEqual(sorts, [], text);
    }
    database.close();
  },
);
