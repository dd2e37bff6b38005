/** Concurrent HTTP requests: no update is lost or counted twice, and none is answered 5xx. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { sql } from 'kysely';
import { seedProject } from '../support/seed.ts';
import { type Reply, type TestService, engine, startTestService } from '../support/service.ts';
import { findFaults } from './invariants.ts';
import type { Row } from './process.ts';

let gantry: TestService;
before(async () => void (gantry = await startTestService()));
after(async () => await gantry.close());

const query = async (text: string): Promise<Row[]> =>
  (await sql.raw<Row>(text).execute(gantry.service.platform.store.db)).rows;

const newProject = async (): Promise<number> => (await seedProject(gantry)).id;

/** Creates an issue with all its related rows. */
const newIssue = async (project: number): Promise<string> => {
  const { body } = await gantry.api(`POST /projects/${project}/issues`, { json: { title: 'Contended' } });
  return `/projects/${project}/issues/${body.iid}`;
};

const times = async (count: number, work: (n: number) => Promise<Reply>): Promise<Reply[]> =>
  await Promise.all(Array.from({ length: count }, (_one, n) => work(n)));

const statuses = (replies: Reply[]): number[] => [...new Set(replies.map(({ status }) => status))];

const iidsOf = (replies: Reply[]): number[] =>
  replies.map(({ body }) => Number(body.iid)).toSorted((a, b) => a - b);

const upTo = (count: number): number[] => Array.from({ length: count }, (_one, n) => n + 1);

it('numbers 50 concurrently created issues from 1 to 50', async () => {
  const project = await newProject();
  const replies = await times(50, (n) =>
    gantry.api(`POST /projects/${project}/issues`, { json: { title: `n${n}` } }),
  );
  assert.deepEqual(statuses(replies), [201]);
  assert.deepEqual(iidsOf(replies), upTo(50));
});

it('numbers the issues of 6 projects separately, 40 created at once in each', async () => {
  const projects = await Promise.all(Array.from({ length: 6 }, newProject));
  const perProject = await Promise.all(
    projects.map((project) =>
      times(40, (n) => gantry.api(`POST /projects/${project}/issues`, { json: { title: `n${n}` } })),
    ),
  );
  for (const replies of perProject) {
    assert.deepEqual(statuses(replies), [201]);
    assert.deepEqual(iidsOf(replies), upTo(40));
  }
});

it('leaves no gap when some concurrent creations are refused', async () => {
  const project = await newProject();
  const replies = await times(40, (n) =>
    gantry.api(`POST /projects/${project}/issues`, { json: { title: n % 4 === 0 ? ' ' : `n${n}` } }),
  );
  const made = replies.filter(({ status }) => status === 201);
  assert.deepEqual([made.length, iidsOf(made)], [30, upTo(30)]);
});

it('sums the time that 32 concurrent calls add', async () => {
  const issue = await newIssue(await newProject());
  const replies = await times(32, (n) =>
    gantry.api(`POST ${issue}/add_spent_time`, { json: { duration: `${n + 1}m` } }),
  );
  assert.deepEqual(statuses(replies), [201]);
  const { body } = await gantry.api(`GET ${issue}/time_stats`);
  assert.equal(body.total_time_spent, ((32 * 33) / 2) * 60);
});

it('counts 32 concurrent comments', async () => {
  const issue = await newIssue(await newProject());
  const replies = await times(32, (n) => gantry.api(`POST ${issue}/notes`, { json: { body: `n${n}` } }));
  assert.deepEqual(statuses(replies), [201]);
  assert.equal((await gantry.api(`GET ${issue}`)).body.user_notes_count, 32);
});

it('closes an issue once although many requests close it', async () => {
  const issue = await newIssue(await newProject());
  const replies = await times(16, () => gantry.api(`PUT ${issue}`, { json: { state_event: 'close' } }));
  assert.deepEqual(statuses(replies), [200]);
  const { body } = await gantry.api(`GET ${issue}`);
  const closed = await query(`select id from events where kind = 'issue.closed' and target_id = ${body.id}`);
  assert.deepEqual([body.state, closed.length], ['closed', 1]);
});

it('keeps states and totals consistent while some requests close and others reopen', async () => {
  const project = await newProject();
  const issues = await Promise.all(Array.from({ length: 4 }, () => newIssue(project)));
  const replies = await times(64, (n) =>
    gantry.api(`PUT ${issues[n % 4]}`, { json: { state_event: n % 3 === 0 ? 'close' : 'reopen' } }),
  );
  assert.deepEqual(statuses(replies), [200]);
  assert.deepEqual(await findFaults({ query }, engine), []);
});

it('keeps all concurrent edits of different fields', async () => {
  const issue = await newIssue(await newProject());
  const edits = [
    { title: 'Edited' },
    { description: 'by another' },
    { due_date: '2030-01-02' },
    { confidential: true },
    { state_event: 'close' },
    ...upTo(16).map((n) => ({ add_labels: `label-${n}` })),
  ];
  const replies = await times(edits.length, (n) => gantry.api(`PUT ${issue}`, { json: edits[n] }));
  assert.deepEqual(statuses(replies), [200]);
  const { body } = await gantry.api(`GET ${issue}`);
  const { title, description, due_date, confidential, state, labels } = body;
  assert.deepEqual(
    [title, description, due_date, confidential, state],
    ['Edited', 'by another', '2030-01-02', true, 'closed'],
  );
  assert.deepEqual(new Set(labels), new Set(upTo(16).map((n) => `label-${n}`)));
});

it('creates a label once although many issues name it, in any order', async () => {
  const project = await newProject();
  const replies = await times(24, (n) => {
    const labels = ['red', 'green', 'blue'];
    return gantry.api(`POST /projects/${project}/issues`, {
      json: { title: `n${n}`, labels: (n % 2 === 0 ? labels : labels.toReversed()).join() },
    });
  });
  assert.deepEqual(statuses(replies), [201]);
  assert.equal((await query(`select id from labels where project_id = ${project}`)).length, 3);
});

it('moves issues in opposite directions at once', async () => {
  const [here, there] = [await newProject(), await newProject()];
  const pairs = await Promise.all(
    upTo(12).map(async () => [await newIssue(here), await newIssue(there)] as const),
  );
  const replies = await times(24, (n) => {
    const [one, other] = pairs[Math.floor(n / 2)]!;
    return n % 2 === 0
      ? gantry.api(`POST ${one}/move`, { json: { to_project_id: there } })
      : gantry.api(`POST ${other}/move`, { json: { to_project_id: here } });
  });
  assert.deepEqual(statuses(replies), [201]);
  const [counts = {}] = await query(`select sum(opened_issues) as opened, sum(closed_issues) as closed
    from project_counters where project_id in (${here}, ${there})`);
  assert.deepEqual([Number(counts['opened']), Number(counts['closed'])], [24, 24]);
});

it('moves one issue once although many requests move it', async () => {
  const [from, to] = [await newProject(), await newProject()];
  const issue = await newIssue(from);
  const replies = await times(8, () => gantry.api(`POST ${issue}/move`, { json: { to_project_id: to } }));
  assert.equal(replies.filter(({ status }) => status === 201).length, 1);
  assert.deepEqual(
    statuses(replies).toSorted((a, b) => a - b),
    [201, 400],
  );
});

it('answers concurrent edits, moves, comments and deletions of the same issues without 5xx', async () => {
  const [here, there] = [await newProject(), await newProject()];
  const issues = await Promise.all([here, there, here, there].map(newIssue));
  const replies = await times(80, (n) => {
    const issue = issues[n % issues.length]!;
    const target = issue.startsWith(`/projects/${here}/`) ? there : here;
    switch (Math.floor(n / issues.length) % 5) {
      case 0:
        return gantry.api(`PUT ${issue}`, { json: { title: `n${n}`, add_labels: `l${n % 3}` } });
      case 1:
        return gantry.api(`POST ${issue}/notes`, { json: { body: `n${n} @root` } });
      case 2:
        return gantry.api(`POST ${issue}/move`, { json: { to_project_id: target } });
      case 3:
        return gantry.api(`PUT ${issue}`, {
          json: { state_event: n % 2 === 0 ? 'close' : 'reopen', assignee_ids: [1] },
        });
      default:
        return n > 60
          ? gantry.api(`DELETE ${issue}`)
          : gantry.api(`POST ${issue}/add_spent_time`, { json: { duration: '1m' } });
    }
  });
  const odd = replies.filter(({ status }) => ![200, 201, 204, 304, 400, 404].includes(status));
  assert.deepEqual(
    odd.map(({ status, text }) => `${status} ${text}`),
    [],
  );
});

it('leaves all counters and events consistent', async () => {
  assert.deepEqual(await findFaults({ query }, engine), []);
});
