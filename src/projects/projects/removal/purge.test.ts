import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { seedIssue, seedMergeRequest, seedProject, seedUser, unique } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { purgeProject } from './purge.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

/** Every table except the change log and those unrelated to projects. */
const tables = [
  'projects',
  'project_counters',
  'iid_sequences',
  'label_counts',
  'routes',
  'members',
  'labels',
  'label_links',
  'assignees',
  'milestones',
  'issues',
  'issue_search',
  'notes',
  'mentions',
  'award_emoji',
  'subscriptions',
  'todos',
  'timelogs',
  'user_agent_details',
  'merge_requests_closing_issues',
  'merge_requests',
  'merge_request_search',
  'merge_request_diffs',
  'merge_request_diff_texts',
  'merge_request_commits',
];

const countAll = async (): Promise<Record<string, number>> => {
  const { db } = gantry.service.platform.store;
  const counts: Record<string, number> = {};
  for (const table of tables) {
    const { rows } = await sql<{ total: number }>`select count(*) as total from ${sql.table(table)}`.execute(
      db,
    );
    counts[table] = rows[0]!.total;
  }
  return counts;
};

const fillVersion = async (db: Reader, merge_request_id: number, created_at: number): Promise<void> => {
  const none = { head_commit_sha: null, base_commit_sha: null, start_commit_sha: null, real_size: null };
  const { id: diff_id } = await db
    .insertInto('merge_request_diffs')
    .values({ merge_request_id, state: 'empty', ...none, commits_count: 0, created_at })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db.insertInto('merge_request_diff_texts').values({ diff_id, commits: '[]', diffs: '[]' }).execute();
  await db.insertInto('merge_request_commits').values({ diff_id, sha: 'a', position: 0 }).execute();
};

/** Creates a project with rows in every table. */
const fullProject = async (issues: number) => {
  const { store } = gantry.service.platform;
  const user = await seedUser(gantry);
  const made = await gantry.api('POST /projects', { as: user.token, json: { name: unique('full') } });
  const project_id: number = made.body.id;
  const seeded: { id: number }[] = [];
  for (let index = 0; index < issues; index += 1) {
    seeded.push(await seedIssue(gantry, { project: project_id, assignees: [user.id] }));
  }
  const requests: { id: number }[] = [];
  for (let index = 0; index < issues; index += 1) {
    requests.push(await seedMergeRequest(gantry, { project: project_id, assignees: [user.id] }));
  }
  await store.write(async ({ db, now }) => {
    const times = { created_at: now, updated_at: now };
    const label = await db
      .insertInto('labels')
      .values({
        project_id,
        group_id: null,
        title: unique('label'),
        color: '#000000',
        description: null,
        priority: null,
        ...times,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const milestone = {
      project_id,
      group_id: null,
      iid: 1,
      title: 'one',
      description: null,
      state: 'active',
    } as const;
    await db
      .insertInto('milestones')
      .values({ ...milestone, start_date: null, due_date: null, ...times })
      .execute();
    const onLabel = { target_type: 'Label', target_id: label.id } as const;
    await db
      .insertInto('subscriptions')
      .values({ user_id: user.id, ...onLabel, subscribed: 1, ...times })
      .execute();
    for (const { id } of requests) await fillVersion(db, id, now);
    const targets = [
      ...seeded.map(({ id }) => ({ target_type: 'Issue', target_id: id }) as const),
      ...requests.map(({ id }) => ({ target_type: 'MergeRequest', target_id: id }) as const),
    ];
    for (const target of targets) {
      const note = await db
        .insertInto('notes')
        .values({ project_id, ...target, author_id: user.id, body: 'x', system: 0, ...times })
        .returning('id')
        .executeTakeFirstOrThrow();
      const award = { name: 'star', user_id: user.id, ...times };
      await db
        .insertInto('award_emoji')
        .values([
          { ...award, ...target },
          { ...award, target_type: 'Note', target_id: note.id },
        ])
        .execute();
      await db
        .insertInto('mentions')
        .values({ ...target, note_id: note.id, user_id: user.id })
        .execute();
      await db
        .insertInto('label_links')
        .values({ ...target, label_id: label.id, target_created_at: now })
        .execute();
      await db
        .insertInto('subscriptions')
        .values({ user_id: user.id, ...target, subscribed: 1, ...times })
        .execute();
      const todo = {
        user_id: user.id,
        author_id: user.id,
        project_id,
        action: 'marked',
        body: 'x',
        state: 'pending',
      } as const;
      await db
        .insertInto('todos')
        .values({ ...todo, ...target, ...times })
        .execute();
      await db
        .insertInto('timelogs')
        .values({ ...target, user_id: user.id, time_spent: 1, created_at: now })
        .execute();
      await db
        .insertInto('user_agent_details')
        .values({ ...target, user_agent: 'x', ip_address: '::1' })
        .execute();
      await db
        .insertInto('merge_requests_closing_issues')
        .values({ merge_request_id: requests[0]!.id, issue_id: seeded[0]!.id })
        .onConflict((clash) => clash.doNothing())
        .execute();
    }
  });
  return { id: project_id, user };
};

test('deletes all rows of a removed project and no others', async () => {
  await fullProject(2);
  const rowsBefore = await countAll();
  const { id, user } = await fullProject(3);
  // The user remains, with the route of the personal namespace.
  const expected = { ...rowsBefore, routes: rowsBefore['routes']! + 1 };
  const filled = await countAll();
  for (const table of tables) assert.ok(filled[table]! > rowsBefore[table]!, table);
  assert.equal((await gantry.api(`DELETE /projects/${id}`, { as: user.token })).status, 202);
  const isThere = async (): Promise<boolean> => {
    const { db } = gantry.service.platform.store;
    return (
      (await db.selectFrom('projects').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
    );
  };
  for (let tries = 0; tries < 100 && (await isThere()); tries += 1) {
    await gantry.service.worker.drain();
    await wait(20);
  }
  assert.deepEqual(await countAll(), expected);
  assert.equal(await purgeProject(gantry.service.platform.store, id), true);
  assert.deepEqual(await countAll(), expected);
});

test('does not purge a project that is not removed', async () => {
  const project = await seedProject(gantry);
  assert.equal(await purgeProject(gantry.service.platform.store, project.id), true);
  assert.equal((await gantry.api(`GET /projects/${project.id}`)).status, 200);
});

test('purges a large project in bounded runs', async () => {
  const { store } = gantry.service.platform;
  const { id } = await fullProject(1);
  await store.write(async ({ db, now }) => {
    const rest = {
      project_id: id,
      target_type: 'Issue',
      target_id: 0,
      author_id: 1,
      body: 'x',
      system: 0,
    } as const;
    const times = { created_at: now, updated_at: now };
    for (let batch = 0; batch < 11; batch += 1) {
      await db
        .insertInto('notes')
        .values(Array.from({ length: 500 }, () => ({ ...rest, ...times })))
        .execute();
    }
    await db.updateTable('projects').set({ deleted_at: now }).where('id', '=', id).execute();
  });
  assert.equal(await purgeProject(store, id), false);
  assert.equal(await purgeProject(store, id), true);
  const remaining = await store.db.selectFrom('projects').select('id').where('id', '=', id).execute();
  assert.deepEqual(remaining, []);
});

test('resumes interrupted work and tolerates concurrent runs', async () => {
  const { store } = gantry.service.platform;
  const rowsBefore = await countAll();
  const { id, user } = await fullProject(4);
  await store.write(async ({ db, now }) => {
    await db.updateTable('projects').set({ deleted_at: now }).where('id', '=', id).execute();
    await db.deleteFrom('routes').where('source_type', '=', 'Project').where('source_id', '=', id).execute();
    await db.deleteFrom('mentions').where('user_id', '=', user.id).execute();
  });
  await Promise.all([purgeProject(store, id), purgeProject(store, id)]);
  assert.deepEqual(await countAll(), { ...rowsBefore, routes: rowsBefore['routes']! + 1 });
});
