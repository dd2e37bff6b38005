/** Values in bodies: only declared fields, only records within reach, only by users with the right. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type SeededProject,
  type SeededUser,
  seedGroup,
  seedMember,
  seedProject,
  seedUser,
  unique,
} from '../support/seed.ts';
import { type Reply, type TestService, startTestService } from '../support/service.ts';

let gantry: TestService;
let group: { id: number };
/** A public project in the group. */
let project: SeededProject;
/** A project that the team cannot see. */
let secret: SeededProject;
let people: Record<'guest' | 'reporter' | 'developer' | 'master' | 'owner' | 'stranger', SeededUser>;

const must = async (line: string, options: { as?: string; json?: object } = {}): Promise<Reply> => {
  const reply = await gantry.api(line, options);
  assert.ok(reply.status < 300, `${line}: ${reply.status} ${reply.text}`);
  return reply;
};

before(async () => {
  gantry = await startTestService();
  group = await seedGroup(gantry);
  project = await seedProject(gantry, { namespace: group.id });
  secret = await seedProject(gantry, { visibility: 'private' });
  const levels = { guest: 10, reporter: 20, developer: 30, master: 40, owner: 50 };
  const made: Record<string, SeededUser> = { stranger: await seedUser(gantry) };
  for (const [name, access_level] of Object.entries(levels)) {
    const user = await seedUser(gantry);
    made[name] = user;
    await seedMember(gantry, {
      user: user.id,
      access_level,
      ...(access_level === 50 ? { group: group.id } : { project: project.id }),
    });
  }
  people = made;
});
after(async () => await gantry.close());

type Issue = { id: number; iid: number; project_id: number };

const issuePath = ({ project_id, iid }: Issue): string => `/projects/${project_id}/issues/${iid}`;

const create = async (of: { id: number }, json: object = {}, as?: string) =>
  (
    await must(`POST /projects/${of.id}/issues`, {
      json: { title: 'An issue', ...json },
      ...(as !== undefined && { as }),
    })
  ).body;

const storedIssue = async (id: number) =>
  await gantry.service.platform.store.db
    .selectFrom('issues')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

/* ---- records of another project, through one's own ---- */

test('a milestone or a label of another project cannot be used', async () => {
  const other = await seedGroup(gantry, { visibility: 'private' });
  const elsewhere = [
    (await must(`POST /projects/${secret.id}/milestones`, { json: { title: unique('secret') } })).body,
    (await must(`POST /groups/${other.id}/milestones`, { json: { title: unique('secret') } })).body,
  ];
  const label = (
    await must(`POST /projects/${secret.id}/labels`, { json: { name: unique('secret'), color: '#FFF' } })
  ).body;
  for (const as of [people.reporter.token, people.owner.token, undefined]) {
    const own = (await must(`POST /projects/${project.id}/milestones`, { json: { title: unique('own') } }))
      .body;
    for (const { id, title } of [...elsewhere, { id: 999_999_999, title: 'none' }]) {
      const made = await create(
        project,
        {
          milestone_id: id,
          description: `/milestone %"${title}"\n/label ~${label.id} ~"${label.name}"`,
        },
        as,
      );
      assert.deepEqual([made.milestone, made.labels], [null, []]);
      await must(`PUT ${issuePath(made)}`, {
        json: { milestone_id: own.id },
        ...(as !== undefined && { as }),
      });
      const edited = await must(`PUT ${issuePath(made)}`, {
        json: { milestone_id: id },
        ...(as !== undefined && { as }),
      });
      assert.equal(edited.body.milestone, null);
    }
  }
  // A title creates a label here, and does not reach the other one.
  const made = await create(project, { labels: label.name }, people.reporter.token);
  const own = (await must(`GET /projects/${project.id}/labels/${encodeURIComponent(label.name)}`)).body;
  assert.deepEqual([made.labels, own.id === label.id, own.color], [[label.name], false, '#428BCA']);
});

test('a move uses labels and milestones of the target only', async () => {
  const target = await seedProject(gantry, { namespace: group.id });
  const title = unique('same');
  for (const { id } of [project, secret]) await must(`POST /projects/${id}/milestones`, { json: { title } });
  await must(`POST /projects/${secret.id}/labels`, { json: { name: title, color: '#FFF' } });
  const issue = await create(project, { labels: title });
  const { body: all } = await must(`GET /projects/${project.id}/milestones?title=${title}`);
  await must(`PUT ${issuePath(issue)}`, { json: { milestone_id: all[0].id } });
  const moved = await must(`POST ${issuePath(issue)}/move`, { json: { to_project_id: target.id } });
  assert.deepEqual([moved.body.milestone, moved.body.labels], [null, []]);
});

test('the path identifies the record, whatever query and body say', async () => {
  const [here, there] = [await create(project), await create(project)];
  const hidden = await create(secret);
  const before_ = [await storedIssue(there.id), await storedIssue(hidden.id)];
  const other = { id: secret.id, issue_iid: hidden.iid, project_id: secret.id };
  const as = people.developer.token;
  const edited = await must(`PUT ${issuePath(here)}?id=${secret.id}&issue_iid=${there.iid}`, {
    as,
    json: { ...other, title: 'Here' },
  });
  assert.deepEqual([edited.body.id, edited.body.title], [here.id, 'Here']);
  const noted = await must(`POST ${issuePath(here)}/notes?id=${secret.id}`, {
    as,
    json: { ...other, body: 'Here' },
  });
  assert.equal(noted.body.noteable_id, here.id);
  const moved = await gantry.api(`GET ${issuePath(here)}?id=${secret.id}&issue_iid=${hidden.iid}`, { as });
  assert.equal(moved.body.id, here.id);
  const form = await gantry.api(`POST ${issuePath(here)}/todo`, {
    as,
    form: `id=${secret.id}&issue_iid=${hidden.iid}`,
  });
  assert.equal(form.body.target.id, here.id);
  assert.deepEqual([await storedIssue(there.id), await storedIssue(hidden.id)], before_);
});

/* ---- users as values ---- */

type Assigned = { assignees: { id: number }[] };

const todosOf = async (issueId: number): Promise<number[]> => {
  const query = gantry.service.platform.store.db
    .selectFrom('todos')
    .select('user_id')
    .where('target_id', '=', issueId);
  return (await query.execute()).map(({ user_id }) => user_id).toSorted((a, b) => a - b);
};

const idsOf = ({ assignees }: Assigned): number[] => assignees.map(({ id }) => id);

test('a user who cannot see the project is neither assigned nor notified', async () => {
  const group_ = await seedGroup(gantry);
  const vault = await seedProject(gantry, { visibility: 'private', namespace: group_.id });
  const internal = await seedProject(gantry, { visibility: 'internal', namespace: group_.id });
  const closed = await seedProject(gantry, { issues_access_level: 'private', namespace: group_.id });
  const [stranger, external, blocked, former, member] = [
    await seedUser(gantry),
    await seedUser(gantry, { external: 1 }),
    await seedUser(gantry, { state: 'blocked' }),
    await seedUser(gantry),
    await seedUser(gantry),
  ];
  for (const user of [blocked, former, member]) {
    await seedMember(gantry, { user: user.id, group: group_.id, access_level: 30 });
  }
  await gantry.service.platform.store.write(async ({ db }) => {
    await db
      .updateTable('members')
      .set({ expires_at: '2017-01-01' })
      .where('user_id', '=', former.id)
      .execute();
  });
  const nobody = 999_999_999;
  const hidden: [of: SeededProject, ids: number[]][] = [
    [vault, [stranger.id, external.id, blocked.id, former.id, nobody]],
    [internal, [external.id, blocked.id, nobody]],
    [closed, [stranger.id, external.id, blocked.id, former.id, nobody]],
  ];
  for (const [of, ids] of hidden) {
    for (const id of ids) {
      const made = await create(of, {
        assignee_ids: [id],
        description: `@${stranger.username} @${external.username} @${blocked.username} @${former.username}`,
      });
      assert.deepEqual(idsOf(made), []);
      const both = await create(of, { assignee_ids: [id, member.id] });
      assert.deepEqual(idsOf(both), [member.id]);
      for (const json of [{ assignee_ids: [id] }, { assignee_id: id }, { assignee_ids: [id, nobody] }]) {
        assert.deepEqual(idsOf((await must(`PUT ${issuePath(made)}`, { json })).body), []);
        assert.deepEqual(idsOf((await must(`PUT ${issuePath(both)}`, { json })).body), [member.id]);
      }
      const acted = await create(of, { description: `/assign @${stranger.username} @${external.username}` });
      assert.ok(of === internal || idsOf(acted).length === 0);
      assert.deepEqual(
        [(await todosOf(made.id)).filter((one) => ids.includes(one)), await todosOf(both.id)],
        [[], [member.id]],
      );
      const notes = (await must(`GET ${issuePath(made)}/notes`)).body as { body: string }[];
      assert.ok(notes.every(({ body }) => !body.startsWith('assigned')));
    }
  }
});

test('a user who is assigned to a confidential issue, or mentioned in it, sees it', async () => {
  const [stranger, guest, other] = [people.stranger, people.guest, await seedUser(gantry)];
  const all = [stranger, guest, other, people.reporter];
  const text = all.map(({ username }) => `@${username}`).join(' ');
  const made = await create(project, { confidential: true, assignee_ids: [stranger.id], description: text });
  const rounds = [
    { assignee_ids: [guest.id] },
    { assignee_ids: [stranger.id, other.id], confidential: false },
    { confidential: true, description: `${text} again` },
    { assignee_ids: [0] },
    { assignee_ids: [other.id], description: text },
  ];
  for (const json of [{}, ...rounds]) {
    if (Object.keys(json).length > 0) await must(`PUT ${issuePath(made)}`, { json });
    await must(`POST ${issuePath(made)}/notes`, { json: { body: `${text} look` } });
    const { body } = await must(`GET ${issuePath(made)}`);
    for (const user of all) {
      const sees = (await gantry.api(`GET ${issuePath(made)}`, { as: user.token })).status === 200;
      const todos = (await must('GET /todos', { as: user.token })).body as { target: { id: number } }[];
      const isTold = todos.some(({ target }) => target.id === made.id);
      assert.ok(
        sees || (!idsOf(body).includes(user.id) && !isTold),
        `${user.username} ${JSON.stringify(json)}`,
      );
    }
  }
});

test('a move keeps the assignees who see the target, and notifies nobody else', async () => {
  const vault = await seedProject(gantry, { visibility: 'private', namespace: group.id });
  const issue = await create(project, { assignee_ids: [people.stranger.id, people.owner.id] });
  const moved = await must(`POST ${issuePath(issue)}/move`, { json: { to_project_id: vault.id } });
  assert.deepEqual(idsOf(moved.body), [people.owner.id]);
  assert.ok(!(await todosOf(moved.body.id)).includes(people.stranger.id));
});

/* ---- fields that the caller may not set ---- */

/** Columns of an issue that no body sets. */
const serverFields = {
  id: 1,
  iid: 4242,
  project_id: 1,
  author_id: 1,
  author: { id: 1 },
  state: 'closed',
  deleted_at: '2017-01-01T00:00:00Z',
  upvotes: 99,
  downvotes: 99,
  user_notes_count: 99,
  moved_to_id: 1,
  closed_at: '2017-01-01T00:00:00Z',
  closed_by_id: 1,
  time_estimate: 99,
  total_time_spent: 99,
  time_stats: { time_estimate: 99 },
  web_url: 'http://evil.example',
  subscribed: false,
  revision: 99,
  constructor: { prototype: { admin: true } },
};

const withProto = (fields: object): string =>
  JSON.stringify(fields).replace('{', '{"__proto__":{"admin":true,"title":"Polluted"},');

const formOf = (fields: object): string =>
  new URLSearchParams(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'object' ? JSON.stringify(value) : String(value),
    ]),
  ).toString();

test('an edit sets what is declared and nothing else', async () => {
  for (const person of ['developer', 'master', 'owner'] as const) {
    const made = await create(project);
    const before_ = await storedIssue(made.id);
    const {
      title: _title,
      updated_at: _updated,
      revision: _revision,
      ...kept
    } = before_ as Record<string, unknown>;
    const as = people[person].token;
    const path = issuePath(made);
    const bodies: Parameters<TestService['api']>[1][] = [
      { json: { ...serverFields, title: 'One' } },
      { form: `${formOf(serverFields)}&title=Two` },
      {
        headers: { 'content-type': 'application/json' },
        json: JSON.parse(withProto({ ...serverFields, title: 'Three' })) as object,
      },
    ];
    for (const [at, body] of bodies.entries()) {
      const { status } = await gantry.api(`PUT ${path}?${formOf(serverFields)}`, { as, ...body });
      assert.equal(status, 200);
      const {
        title,
        updated_at: _at,
        revision: _now,
        ...now
      } = (await storedIssue(made.id)) as Record<string, unknown>;
      assert.deepEqual([title, now], [['One', 'Two', 'Three'][at], kept]);
    }
    const only = await gantry.api(`PUT ${path}`, { as, json: serverFields });
    assert.equal(only.status, 400);
  }
  assert.equal(({} as { admin?: boolean }).admin, undefined);
});

test('a new issue has what is declared and nothing else', async () => {
  for (const person of ['stranger', 'guest', 'developer', 'owner'] as const) {
    const as = people[person];
    const made = await create(project, serverFields, as.token);
    const stored = await storedIssue(made.id);
    assert.notEqual(made.iid, serverFields.iid);
    const {
      project_id,
      author_id,
      state,
      deleted_at,
      upvotes,
      downvotes,
      user_notes_count,
      moved_to_id,
      closed_at,
      closed_by_id,
      time_estimate,
      total_time_spent,
    } = stored;
    assert.deepEqual(
      {
        project_id,
        author_id,
        state,
        deleted_at,
        upvotes,
        downvotes,
        user_notes_count,
        moved_to_id,
        closed_at,
        closed_by_id,
        time_estimate,
        total_time_spent,
      },
      {
        project_id: project.id,
        author_id: as.id,
        state: 'opened',
        deleted_at: null,
        upvotes: 0,
        downvotes: 0,
        user_notes_count: 0,
        moved_to_id: null,
        closed_at: null,
        closed_by_id: null,
        time_estimate: 0,
        total_time_spent: 0,
      },
    );
  }
});

test('fields for reporters are ignored from others, in every form', async () => {
  const milestone = (
    await must(`POST /projects/${project.id}/milestones`, { json: { title: unique('own') } })
  ).body;
  await must(`POST /projects/${project.id}/labels`, { json: { name: 'known', color: '#FFF' } });
  const attributes = {
    labels: `known,${unique('new')}`,
    milestone_id: milestone.id,
    assignee_ids: [people.guest.id],
    due_date: '2030-01-01',
  };
  const actions = `/label ~known\n/milestone %"${milestone.title}"\n/assign @${people.guest.username}\n/due 2030-01-01`;
  const labels = async (): Promise<number> =>
    Number((await must(`GET /projects/${project.id}/labels`)).headers.get('x-total'));
  const count = await labels();
  for (const person of ['stranger', 'guest'] as const) {
    const as = people[person].token;
    const made = [await create(project, attributes, as), await create(project, { description: actions }, as)];
    for (const issue of made) {
      const edited = await must(`PUT ${issuePath(issue)}`, {
        as,
        json: {
          ...attributes,
          add_labels: 'known',
          remove_labels: 'x',
          assignee_id: people.guest.id,
          title: 'Own',
        },
      });
      for (const one of [issue, edited.body]) {
        assert.deepEqual(
          [one.labels, one.milestone, one.assignees, one.due_date],
          [[], null, [], null],
          person,
        );
      }
      const nothing = await gantry.api(`PUT ${issuePath(issue)}`, { as, json: attributes });
      assert.deepEqual([nothing.status, nothing.body.labels], [200, []]);
    }
  }
  assert.equal(await labels(), count);
  const full = await create(project, attributes, people.reporter.token);
  assert.deepEqual([full.labels.length, full.milestone.id, full.due_date], [2, milestone.id, '2030-01-01']);
});

test('only owners and administrators set times', async () => {
  const long = '2011-11-11T11:11:11.000Z';
  for (const person of ['stranger', 'guest', 'reporter', 'developer', 'master', 'owner'] as const) {
    const as = people[person].token;
    const may = person === 'owner';
    const made = await create(project, { created_at: long }, as);
    assert.equal(made.created_at === long, may, person);
    const edited = await must(`PUT ${issuePath(made)}`, {
      as,
      json: { title: 'x', updated_at: long, created_at: long },
    });
    assert.equal(edited.body.updated_at === long, may, person);
    assert.equal(edited.body.created_at, made.created_at);
    const note = await must(`POST ${issuePath(made)}/notes`, { as, json: { body: 'x', created_at: long } });
    assert.equal(note.body.created_at === long, may, person);
  }
});

test('a note belongs to its author', async () => {
  const issue = await create(project);
  const as = people.stranger;
  const forged = {
    author_id: 1,
    author: { id: 1 },
    system: true,
    noteable_id: 1,
    noteable_type: 'MergeRequest',
    project_id: secret.id,
    id: 1,
    updated_at: '2011-11-11T00:00:00Z',
    type: 'DiffNote',
  };
  const note = await must(`POST ${issuePath(issue)}/notes`, {
    as: as.token,
    json: { body: 'Said', ...forged },
  });
  const edited = await must(`PUT ${issuePath(issue)}/notes/${note.body.id}`, {
    as: as.token,
    json: { body: 'Other', ...forged },
  });
  for (const { body } of [note, edited]) {
    assert.deepEqual(
      [body.author.id, body.system, body.noteable_id, body.noteable_type, body.project_id],
      [as.id, false, issue.id, 'Issue', project.id],
    );
    assert.notEqual(body.updated_at, '2011-11-11T00:00:00.000Z');
  }
  const award = await must(`POST ${issuePath(issue)}/award_emoji`, {
    as: as.token,
    json: { name: 'heart', user_id: 1, user: { id: 1 }, awardable_id: 1 },
  });
  assert.deepEqual([award.body.user.id, award.body.awardable_id], [as.id, issue.id]);
});

test('a project, a group and a token change only in declared fields', async () => {
  const { db } = gantry.service.platform.store;
  const own = await seedProject(gantry, { namespace: group.id });
  await seedMember(gantry, { user: people.master.id, project: own.id, access_level: 40 });
  const stored = async () =>
    await db.selectFrom('projects').selectAll().where('id', '=', own.id).executeTakeFirstOrThrow();
  const { description: _d, updated_at: _u, ...before_ } = await stored();
  const forged = {
    id: 1,
    namespace_id: 1,
    namespace: { id: 1 },
    creator_id: 1,
    full_path: 'evil',
    deleted_at: '2011-11-11',
    archived: true,
    star_count: 9,
    forked_from_project_id: secret.id,
    repository_storage: 'evil',
    created_at: '2011-11-11',
    issues_version: 1,
    opened_issues: 7,
  };
  await must(`PUT /projects/${own.id}`, {
    as: people.master.token,
    json: { ...forged, description: 'Other' },
  });
  const { description, updated_at: _at, ...after_ } = await stored();
  assert.deepEqual([description, after_], ['Other', before_]);

  const inner = await seedGroup(gantry, { parent: group.id });
  const groups = async () =>
    await db.selectFrom('namespaces').selectAll().where('id', '=', inner.id).executeTakeFirstOrThrow();
  const { description: _gd, updated_at: _gu, ...groupBefore } = await groups();
  const groupForged = {
    id: 1,
    parent_id: null,
    owner_id: people.owner.id,
    kind: 'user',
    full_path: 'evil',
    deleted_at: '2011-11-11',
    created_at: '2011-11-11',
  };
  await must(`PUT /groups/${inner.id}`, {
    as: people.owner.token,
    json: { ...groupForged, description: 'Other' },
  });
  const { description: told, updated_at: _ga, ...groupAfter } = await groups();
  assert.deepEqual([told, groupAfter], ['Other', groupBefore]);

  const token = await must('POST /user/personal_access_tokens', {
    as: people.guest.token,
    json: {
      name: 'x',
      scopes: ['api'],
      user_id: 1,
      kind: 'impersonation',
      revoked: false,
      token: 'gntpat-chosen',
      token_hash: 'x',
    },
  });
  assert.equal(token.body.user_id, people.guest.id);
  assert.equal((await gantry.api('GET /user', { as: 'gntpat-chosen' })).status, 401);
  const sudo = await gantry.api('POST /user/personal_access_tokens', {
    as: people.guest.token,
    json: { name: 'x', scopes: ['api', 'sudo'] },
  });
  assert.equal(sudo.status, 400);
});

test('nobody grants a role above their own, or one to themselves', async () => {
  const own = await seedProject(gantry, { namespace: group.id });
  const [master, guest] = [await seedUser(gantry), await seedUser(gantry)];
  await seedMember(gantry, { user: master.id, project: own.id, access_level: 40 });
  await seedMember(gantry, { user: guest.id, project: own.id, access_level: 10 });
  const path = `/projects/${own.id}/members`;
  const refused: [line: string, as: SeededUser, json: object][] = [
    [`PUT ${path}/${guest.id}`, guest, { access_level: 40 }],
    [`POST ${path}`, guest, { user_id: people.stranger.id, access_level: 10 }],
    [`PUT ${path}/${master.id}`, master, { access_level: 50 }],
    [`PUT ${path}/${guest.id}`, master, { access_level: 50 }],
    [`POST ${path}`, master, { user_id: people.stranger.id, access_level: 50 }],
    [`POST ${path}`, master, { user_id: people.stranger.id, access_level: 60 }],
    [`POST /groups/${group.id}/members`, master, { user_id: master.id, access_level: 50 }],
    [`PUT /groups/${group.id}/members/${people.owner.id}`, master, { access_level: 10 }],
    [`PUT /users/${master.id}`, master, { admin: true }],
    [
      'POST /users',
      master,
      { username: 'x', name: 'x', email: 'x@example.com', force_random_password: true, admin: true },
    ],
  ];
  const { db } = gantry.service.platform.store;
  const members = async () => await db.selectFrom('members').selectAll().orderBy('id').execute();
  const before_ = await members();
  for (const [line, as, json] of refused) {
    const { status } = await gantry.api(line, { as: as.token, json });
    assert.ok([400, 403].includes(status), `${line} ${JSON.stringify(json)}: ${status}`);
  }
  assert.deepEqual(await members(), before_);
});

test('no parameter or header turns one method into another', async () => {
  const issue = await create(project);
  const as = people.owner.token;
  const path = issuePath(issue);
  for (const headers of [
    {},
    { 'x-http-method-override': 'DELETE' },
    { 'x-method-override': 'DELETE' },
    { 'x-http-method': 'DELETE' },
  ]) {
    for (const line of [
      `GET ${path}?_method=DELETE`,
      `GET ${path}?_method=delete&method=DELETE`,
      `POST ${path}/notes?_method=DELETE`,
    ]) {
      const { status } = await gantry.api(line, {
        as,
        headers,
        ...(line.startsWith('POST') && { json: { body: 'x', _method: 'DELETE' } }),
      });
      assert.ok(status < 300);
    }
  }
  assert.equal((await gantry.api(`GET ${path}`, { as })).status, 200);
});
