/**
 * Totals of filtered lists of a large project are exact after each change, and on SQLite not counted in the main
 * thread.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import {
  type SeededProject,
  type SeededUser,
  seedIssue,
  seedMember,
  seedProject,
  seedUser,
  setIids,
} from '../support/seed.ts';
import { observeQueries, statementsDuring } from '../support/record_statements.ts';
import { type TestService, engine, startTestService } from '../support/service.ts';

const issues = 6_000;

let gantry: TestService;
let project: SeededProject;
let user: SeededUser;
let milestone: number;

/** The first labelled issue, the first on a milestone, and so on, of which every second, third... has the same. */
before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 30 });
  const place = `/projects/${project.id}`;
  const label = (await gantry.api(`POST ${place}/labels`, { json: { name: 'common', color: '#fff' } })).body
    .id;
  milestone = (await gantry.api(`POST ${place}/milestones`, { json: { title: 'v1' } })).body.id;
  await gantry.service.platform.store.write(async ({ db, now }) => {
    await sql`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(issues)})
      insert into issues (project_id, iid, title, description, state, author_id, milestone_id, confidential,
        created_at, updated_at)
      select ${sql.lit(project.id)}, n, 'Issue', null, 'opened', 1,
        case when n % 3 = 0 then ${sql.lit(milestone)} end, 0, ${sql.lit(now)} - n, ${sql.lit(now)} - n
      from numbers`.execute(db);
    await sql`insert into label_links (target_type, target_id, label_id, target_created_at)
      select 'Issue', id, ${sql.lit(label)}, created_at from issues
      where project_id = ${sql.lit(project.id)} and iid % 2 = 0`.execute(db);
    await sql`insert into assignees (target_type, target_id, user_id, position, target_created_at)
      select 'Issue', id, ${sql.lit(user.id)}, 0, created_at from issues
      where project_id = ${sql.lit(project.id)} and iid % 4 <> 0`.execute(db);
    await sql`insert into issue_search (issue_id, title, description, indexed)
      select id, 'issue', '', 1 from issues where project_id = ${sql.lit(project.id)}`.execute(db);
    await setIids(db, project.id, { issue: issues });
    if (engine === 'postgres') {
      // Like autovacuum: without statistics, joins of this size exceed the statement timeout.
      await sql`analyze issues, label_links, assignees, issue_search`.execute(db);
    }
  });
});
after(async () => await gantry.close());

/** Statements of this form that the main thread runs on SQLite during `work`. */
const formsDuring = async (form: RegExp, work: () => Promise<unknown>): Promise<string[]> => {
  const texts = await statementsDuring(work);
  return engine === 'sqlite' ? texts.filter((text) => form.test(text)) : [];
};

const countForm = /^\s*select count\(\*\) as total from "?(?:issues|label_links|assignees)/;

const half = issues / 2;

/** Filters, with the first total, and its increase by one more plain issue. */
const cases = (): [string, number, 0 | 1][] => [
  ['labels=None', half, 1],
  ['not[labels]=common', half, 1],
  ['labels=common', half, 0],
  ['milestone=v1', issues / 3, 0],
  [`assignee_id=${user.id}`, (issues / 4) * 3, 0],
  ['assignee_id=None', issues / 4, 1],
  ['updated_after=2001-01-01', issues, 1],
  ['search=ss', issues, 0],
];

test('runs a search of two letters without results outside the main thread', async () => {
  const compared = await formsDuring(/ like /, async () => {
    for (const path of [
      `/projects/${project.id}/issues?scope=all&search=zz`,
      `/issues?scope=all&search=qq`,
    ]) {
      const { status, body, headers } = await gantry.api(`GET ${path}`, { as: user.token });
      assert.deepEqual([status, body, headers.get('x-total')], [200, [], '0']);
    }
  });
  // A list of everything is read in place while the whole database is small.
  assert.deepEqual(
    compared.filter((text) => !text.includes('cross join projects')),
    [],
  );
});

/** The plans of the pages of issues that PostgreSQL reads during `work`, as `explain` shows them. */
const plansDuring = async (work: () => Promise<unknown>): Promise<string[]> => {
  const plans: string[] = [];
  const stop = observeQueries(async ({ text, values }, send) => {
    if (!/^\s*select issues\.id, issues\.revision/.test(text)) return;
    const { rows } = await send(`explain ${text}`, values);
    plans.push(rows.map((row: object) => Object.values(row)[0]).join('\n'));
  });
  try {
    await work();
  } finally {
    stop();
  }
  return plans;
};

test('reads pages in the order of an index', { skip: engine === 'sqlite' }, async () => {
  for (const filter of ['state=all', 'state=opened&sort=asc', 'order_by=updated_at', 'labels=None']) {
    const plans = await plansDuring(async () => {
      const { status } = await gantry.api(`GET /projects/${project.id}/issues?scope=all&${filter}`);
      assert.equal(status, 200, filter);
    });
    assert.match(plans.at(-1) ?? '', /Index Scan .*using issues_/, filter);
    assert.doesNotMatch(plans.at(-1) ?? '', /Sort/, filter);
  }
});

test(
  'skips records of late pages, and finds due issues, in indexes alone',
  { skip: engine === 'sqlite' },
  async () => {
    const { db } = gantry.service.platform.store;
    // The oldest: along the order of creation, a page would pass over all others.
    await sql`update issues set due_date = '2001-01-01'
      where project_id = ${sql.lit(project.id)} and iid > ${sql.lit(issues - 200)}`.execute(db);
    await sql`vacuum analyze issues`.execute(db);
    for (const [filter, plan] of [
      ['page=290', /Index Only Scan .*using issues_created /],
      ['page=290&state=opened', /Index Only Scan .*using issues_state_created /],
      ['due_date=overdue', /(?:on|using) issues_(?:project_)?due /],
      ['due_date=overdue&page=8&state=opened&sort=asc', /(?:on|using) issues_(?:project_)?due /],
    ] as const) {
      const plans = await plansDuring(async () => {
        const path = `/projects/${project.id}/issues?scope=all&per_page=20&${filter}`;
        const { body } = await gantry.api(`GET ${path}`, { as: user.token });
        assert.equal(body.length, 20, filter);
      });
      assert.match(plans.at(-1) ?? '', plan, filter);
    }
    const beyond = await plansDuring(async () => {
      const path = `/projects/${project.id}/issues?scope=all&page=9000`;
      const { body, headers } = await gantry.api(`GET ${path}`, { as: user.token });
      assert.deepEqual([body, headers.get('x-total')], [[], String(issues)]);
    });
    assert.deepEqual(beyond, []);
  },
);

test('reads a page outside the main thread if it may pass over most of the project', async () => {
  const pages = await formsDuring(/^\s*select issues\.id, issues\.revision/, async () => {
    for (const filter of ['due_date=0&confidential=true', 'confidential=true', 'my_reaction_emoji=rocket']) {
      const path = `/projects/${project.id}/issues?scope=all&${filter}`;
      const { status, body } = await gantry.api(`GET ${path}`, { as: user.token });
      assert.deepEqual([status, body], [200, []], filter);
    }
  });
  assert.deepEqual(pages, []);
});

test('keeps totals of a large project exact after each change, and counts outside the main thread', async () => {
  const total = async (filter: string): Promise<number> => {
    const path = `/projects/${project.id}/issues?scope=all&${filter}&per_page=1`;
    const { status, headers } = await gantry.api(`GET ${path}`, { as: user.token });
    assert.equal(status, 200, filter);
    return Number(headers.get('x-total'));
  };
  for (const added of [0, 1, 2]) {
    if (added > 0) await seedIssue(gantry, { project: project.id, title: 'x' });
    for (const [filter, first, step] of cases()) {
      const counts = await formsDuring(countForm, async () =>
        assert.equal(await total(filter), first + added * step, filter),
      );
      // The last duration decides: a fast count runs in place.
      if (engine === 'sqlite' && added === 0) assert.deepEqual(counts, [], filter);
      // Several at once are merged into one.
      const together = await Promise.all([total(filter), total(filter), total(filter)]);
      assert.deepEqual(new Set(together), new Set([first + added * step]));
    }
  }
});
