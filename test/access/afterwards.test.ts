/** Access that has ended leaves nothing behind. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type SeededIssue,
  type SeededProject,
  type SeededUser,
  seedGroup,
  seedIssue,
  seedMember,
  seedProject,
  seedUser,
  unique,
} from '../support/seed.ts';
import { type Reply, type TestService, startTestService } from '../support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const must = async (line: string, options: { as?: string; json?: object } = {}): Promise<Reply> => {
  const reply = await gantry.api(line, options);
  assert.ok(reply.status < 300, `${line}: ${reply.status} ${reply.text}`);
  return reply;
};

const issuePath = ({ project_id, iid }: SeededIssue): string => `/projects/${project_id}/issues/${iid}`;

/* ---- how access ends ---- */

type Scene = { project: SeededProject; issue: SeededIssue; user: SeededUser };
type Ending = {
  name: string;
  begin: () => Promise<Scene>;
  end: (scene: Scene) => Promise<unknown>;
  hidden: 'project' | 'issue';
};

const scene = async (
  attributes: Parameters<typeof seedProject>[1],
  issue: { confidential?: 0 | 1 } = {},
  level?: number,
): Promise<Scene> => {
  const group = await seedGroup(gantry);
  const project = await seedProject(gantry, { namespace: group.id, ...attributes });
  const user = await seedUser(gantry);
  if (level !== undefined)
    await seedMember(gantry, { user: user.id, project: project.id, access_level: level });
  return { project, user, issue: await seedIssue(gantry, { project: project.id, ...issue }) };
};

const tomorrow = (): string => new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);

const endings: Ending[] = [
  {
    name: 'a reporter is made a guest, and the issue is confidential',
    begin: async () => await scene({ visibility: 'public' }, { confidential: 1 }, 20),
    end: async ({ project, user }) =>
      await must(`PUT /projects/${project.id}/members/${user.id}`, { json: { access_level: 10 } }),
    hidden: 'issue',
  },
  {
    name: 'a reporter leaves, and the issue is confidential',
    begin: async () => await scene({ visibility: 'public' }, { confidential: 1 }, 20),
    end: async ({ project, user }) => await must(`DELETE /projects/${project.id}/members/${user.id}`),
    hidden: 'issue',
  },
  {
    name: 'an assignee is assigned no more, and the issue is confidential',
    begin: async () => {
      const made = await scene({ visibility: 'public' });
      await must(`PUT ${issuePath(made.issue)}`, { json: { assignee_ids: [made.user.id] } });
      await must(`PUT ${issuePath(made.issue)}`, { json: { confidential: true } });
      return made;
    },
    end: async ({ issue }) => await must(`PUT ${issuePath(issue)}`, { json: { assignee_ids: [0] } }),
    hidden: 'issue',
  },
  {
    name: 'the issue is made confidential',
    begin: async () => await scene({ visibility: 'public' }),
    end: async ({ issue }) => await must(`PUT ${issuePath(issue)}`, { json: { confidential: true } }),
    hidden: 'issue',
  },
  {
    name: 'the issues become a matter of members',
    begin: async () => await scene({ visibility: 'public' }),
    end: async ({ project }) =>
      await must(`PUT /projects/${project.id}`, { json: { issues_access_level: 'private' } }),
    hidden: 'issue',
  },
  {
    name: 'the issues are switched off',
    begin: async () => await scene({ visibility: 'public' }, {}, 30),
    end: async ({ project }) =>
      await must(`PUT /projects/${project.id}`, { json: { issues_enabled: false } }),
    hidden: 'issue',
  },
  {
    name: 'the issue is deleted',
    begin: async () => await scene({ visibility: 'public' }, {}, 30),
    end: async ({ issue }) => await must(`DELETE ${issuePath(issue)}`),
    hidden: 'issue',
  },
  {
    name: 'the project is made private',
    begin: async () => await scene({ visibility: 'public' }),
    end: async ({ project }) =>
      await must(`PUT /projects/${project.id}`, { json: { visibility: 'private' } }),
    hidden: 'project',
  },
  {
    name: 'a member of a private project leaves',
    begin: async () => await scene({ visibility: 'private' }, {}, 40),
    end: async ({ project, user }) => await must(`DELETE /projects/${project.id}/members/${user.id}`),
    hidden: 'project',
  },
  {
    name: 'a membership ends by its date',
    begin: async () => {
      const made = await scene({ visibility: 'private' });
      await must(`POST /projects/${made.project.id}/members`, {
        json: { user_id: made.user.id, access_level: 30, expires_at: tomorrow() },
      });
      return made;
    },
    end: async () => gantry.setTime(Date.parse(`${tomorrow()}T00:00:00Z`)),
    hidden: 'project',
  },
  {
    name: 'a member of the group above leaves',
    begin: async () => {
      const made = await scene({ visibility: 'private' });
      await must(`POST /groups/${made.project.namespace_id}/members`, {
        json: { user_id: made.user.id, access_level: 30 },
      });
      return made;
    },
    end: async ({ project, user }) => await must(`DELETE /groups/${project.namespace_id}/members/${user.id}`),
    hidden: 'project',
  },
  {
    name: 'a user is made external, and the project is internal',
    begin: async () => await scene({ visibility: 'internal' }),
    end: async ({ user }) => await must(`PUT /users/${user.id}`, { json: { external: true } }),
    hidden: 'project',
  },
  {
    name: 'the project is deleted',
    begin: async () => await scene({ visibility: 'public' }, {}, 40),
    end: async ({ project }) => await must(`DELETE /projects/${project.id}`),
    hidden: 'project',
  },
  {
    name: 'the group is deleted',
    begin: async () => await scene({ visibility: 'public' }, {}, 40),
    end: async ({ project }) => await must(`DELETE /groups/${project.namespace_id}`),
    hidden: 'project',
  },
];

const messages = { project: '404 Project Not Found', issue: '404 Not found' } as const;

/** What the user sees of the issue, in every list that could contain it. */
const listsOf = ({ project, issue }: Scene): string[] => [
  '/issues?scope=all',
  `/issues?scope=all&iids[]=${issue.iid}`,
  '/issues?scope=assigned-to-me',
  `/groups/${project.namespace_id}/issues`,
  `/projects/${project.id}/issues`,
];

for (const ending of endings) {
  test(`todos and lists show nothing after ${ending.name}`, async () => {
    try {
      const made = await ending.begin();
      const { project, issue, user } = made;
      const as = user.token;
      const { body: todo } = await gantry.api(`POST ${issuePath(issue)}/todo`, { as });
      const { db } = gantry.service.platform.store;
      const { id } = await db
        .selectFrom('todos')
        .select('id')
        .where('user_id', '=', user.id)
        .executeTakeFirstOrThrow();
      assert.ok(todo === undefined || todo.id === id);
      assert.equal((await must('GET /todos', { as })).body.length, 1);
      // Requested twice, to include cached lists.
      const isIn = ({ body }: Reply): boolean => body.some((one: { id: number }) => one.id === issue.id);
      for (const list of [...listsOf(made), ...listsOf(made)]) {
        assert.ok(isIn(await must(`GET ${list}`, { as })) || list.includes('assigned'), list);
      }

      await ending.end(made);

      for (const query of [
        '',
        '?state=done',
        `?project_id=${project.id}`,
        `?group_id=${project.namespace_id}`,
        '?type=Issue',
        '?per_page=1',
      ]) {
        const { status, body, headers } = await gantry.api(`GET /todos${query}`, { as });
        assert.deepEqual([status, body, headers.get('x-total')], [200, [], '0'], query);
      }
      const done = await gantry.api(`POST /todos/${id}/mark_as_done`, { as });
      assert.deepEqual([done.status, done.body], [404, { message: '404 Not found' }]);
      const again = await gantry.api(`POST ${issuePath(issue)}/todo`, { as });
      assert.deepEqual([again.status, again.body], [404, { message: messages[ending.hidden] }]);
      for (const list of listsOf(made)) {
        const reply = await gantry.api(`GET ${list}`, { as });
        assert.ok(reply.status === 404 || (reply.status === 200 && !isIn(reply)), list);
        if (list.startsWith('/projects/') && reply.status === 200) {
          assert.deepEqual([reply.body, reply.headers.get('x-total')], [[], '0']);
        }
      }
    } finally {
      gantry.setTime(null);
    }
  });

  test(`a copy with a valid ETag is not confirmed after ${ending.name}`, async () => {
    try {
      const made = await ending.begin();
      const { project, issue, user } = made;
      const as = user.token;
      const note = await must(`POST ${issuePath(issue)}/notes`, { json: { body: 'Said' } });
      const whole = [
        issuePath(issue),
        `${issuePath(issue)}/notes`,
        `${issuePath(issue)}/notes/${note.body.id}`,
        `${issuePath(issue)}/time_stats`,
        `${issuePath(issue)}/award_emoji`,
      ];
      const paths =
        ending.hidden === 'issue'
          ? whole
          : [
              ...whole,
              `/projects/${project.id}/issues`,
              `/projects/${project.id}/members`,
              `/projects/${encodeURIComponent(project.full_path)}`,
            ];
      const tags = new Map<string, string>();
      for (const path of paths) {
        const { headers } = await must(`GET ${path}`, { as });
        const tag = headers.get('etag') ?? '';
        tags.set(path, tag);
        assert.equal(
          (await gantry.api(`GET ${path}`, { as, headers: { 'if-none-match': tag } })).status,
          304,
          path,
        );
      }
      const list = await must('GET /issues?scope=all', { as });

      await ending.end(made);

      for (const [path, tag] of tags) {
        for (const method of ['GET', 'HEAD']) {
          const { status } = await gantry.api(`${method} ${path}`, { as, headers: { 'if-none-match': tag } });
          assert.equal(status, 404, `${method} ${path}`);
        }
        const any = await gantry.api(`GET ${path}`, { as, headers: { 'if-none-match': `*, ${tag}` } });
        assert.equal(any.status, 404, path);
      }
      const listed = await gantry.api('GET /issues?scope=all', {
        as,
        headers: { 'if-none-match': list.headers.get('etag') ?? '' },
      });
      assert.equal(listed.status, 200);
    } finally {
      gantry.setTime(null);
    }
  });
}

test('an ETag of one user is useless to a user without access', async () => {
  const { issue, project } = await scene({ visibility: 'private' });
  const stranger = await seedUser(gantry);
  const { headers } = await must(`GET ${issuePath(issue)}`);
  const tag = { 'if-none-match': headers.get('etag') ?? '' };
  assert.equal((await gantry.api(`GET ${issuePath(issue)}`, { headers: tag })).status, 304);
  assert.equal(
    (await gantry.api(`GET ${issuePath(issue)}`, { as: stranger.token, headers: tag })).status,
    404,
  );
  assert.equal((await gantry.api(`GET ${issuePath(issue)}`, { as: null, headers: tag })).status, 401);
  assert.equal((await gantry.api(`GET /projects/${project.id}`, { as: null, headers: tag })).status, 404);
});

test('an author who has left the project loses access to their issues', async () => {
  const { project, user } = await scene({ visibility: 'private' }, {}, 30);
  const as = user.token;
  const made = await must(`POST /projects/${project.id}/issues`, { as, json: { title: 'Their own' } });
  await must(`PUT ${issuePath(made.body)}`, { json: { assignee_ids: [user.id] } });
  const note = await must(`POST ${issuePath(made.body)}/notes`, { as, json: { body: 'Their note' } });
  await must(`DELETE /projects/${project.id}/members/${user.id}`);
  const path = issuePath(made.body);
  const lines: [string, object?][] = [
    [`GET ${path}`],
    [`PUT ${path}`, { title: 'x' }],
    [`GET ${path}/notes/${note.body.id}`],
    [`PUT ${path}/notes/${note.body.id}`, { body: 'x' }],
    [`DELETE ${path}/notes/${note.body.id}`],
    [`POST ${path}/notes`, { body: 'x' }],
    [`POST ${path}/unsubscribe`],
    [`POST ${path}/add_spent_time`, { duration: '1h' }],
  ];
  for (const [line, json] of lines) {
    const { status, body } = await gantry.api(line, { as, ...(json !== undefined && { json }) });
    assert.deepEqual([status, body], [404, { message: '404 Project Not Found' }], line);
  }
  for (const list of [
    '/issues',
    '/issues?scope=assigned-to-me',
    `/issues?author_id=${user.id}&scope=all`,
    `/issues?assignee_id=${user.id}&scope=all`,
  ]) {
    const { body, headers } = await must(`GET ${list}`, { as });
    assert.deepEqual([body, headers.get('x-total')], [[], '0'], list);
  }
});

/* ---- the same path, another record ---- */

test('a project created under the path of a deleted one is a different project', async () => {
  const [old, heir] = [await seedUser(gantry), await seedUser(gantry)];
  const group = await seedGroup(gantry);
  const path = unique('again');
  const first = await seedProject(gantry, { path, namespace: group.id, visibility: 'private' });
  await seedMember(gantry, { user: old.id, project: first.id, access_level: 40 });
  const byPath = `/projects/${encodeURIComponent(first.full_path)}`;
  const before_ = await must(`POST ${byPath}/issues`, { as: old.token, json: { title: 'The same' } });
  const todo = await must(`POST ${byPath}/issues/1/todo`, { as: old.token });
  const tags = new Map<string, string>();
  for (const one of ['', '/issues', '/issues/1', '/members']) {
    tags.set(one, (await must(`GET ${byPath}${one}`, { as: old.token })).headers.get('etag') ?? '');
  }
  await must(`DELETE ${byPath}`);
  await seedMember(gantry, { user: heir.id, group: group.id, access_level: 40 });
  const made = await must('POST /projects', {
    as: heir.token,
    json: { name: path, path, namespace_id: group.id, visibility: 'private' },
  });
  const after_ = await must(`POST ${byPath}/issues`, { as: heir.token, json: { title: 'The same' } });
  assert.notEqual(made.body.id, first.id);
  assert.deepEqual([after_.body.iid, after_.body.project_id], [before_.body.iid, made.body.id]);

  // The former member is a stranger there, with all old credentials.
  for (const [one, tag] of tags) {
    const { status, body } = await gantry.api(`GET ${byPath}${one}`, {
      as: old.token,
      headers: { 'if-none-match': tag },
    });
    assert.deepEqual([status, body], [404, { message: '404 Project Not Found' }], one);
  }
  assert.deepEqual((await must('GET /todos', { as: old.token })).body, []);
  assert.equal((await gantry.api(`POST /todos/${todo.body.id}/mark_as_done`, { as: old.token })).status, 404);

  // An ETag of the old record does not match the new one, for users who see it.
  await must(`POST /projects/${made.body.id}/members`, { json: { user_id: old.id, access_level: 30 } });
  for (const [one, tag] of tags) {
    assert.equal(
      (await gantry.api(`GET ${byPath}${one}`, { as: old.token, headers: { 'if-none-match': tag } })).status,
      200,
      one,
    );
  }
  assert.deepEqual((await must('GET /todos', { as: old.token })).body, []);
  const single = await must(`GET ${byPath}/issues/1`, { as: old.token });
  assert.deepEqual([single.body.id, single.body.project_id], [after_.body.id, made.body.id]);
});

test('a group created under the path of a deleted one is a different group', async () => {
  const [old, heir] = [await seedUser(gantry), await seedUser(gantry)];
  const path = unique('again');
  const first = await must('POST /groups', {
    as: old.token,
    json: { name: path, path, visibility: 'private' },
  });
  const inOld = await must('POST /projects', {
    as: old.token,
    json: { name: 'inside', path: 'inside', namespace_id: first.body.id, visibility: 'private' },
  });
  await must(`DELETE /groups/${path}`, { as: old.token });
  const second = await must('POST /groups', {
    as: heir.token,
    json: { name: path, path, visibility: 'private' },
  });
  await must('POST /projects', {
    as: heir.token,
    json: { name: 'inside', path: 'inside', namespace_id: second.body.id, visibility: 'private' },
  });
  assert.notEqual(second.body.id, first.body.id);
  for (const line of [
    `GET /groups/${path}`,
    `GET /groups/${path}/members`,
    `GET /groups/${first.body.id}`,
    `GET /namespaces/${path}`,
  ]) {
    assert.equal((await gantry.api(line, { as: old.token })).status, 404, line);
  }
  for (const id of [encodeURIComponent(`${path}/inside`), inOld.body.id]) {
    assert.equal((await gantry.api(`GET /projects/${id}`, { as: old.token })).status, 404);
  }
  assert.equal(
    (await gantry.api(`POST /projects`, { as: old.token, json: { name: 'x', namespace_id: first.body.id } }))
      .status,
    400,
  );
  assert.equal((await gantry.api(`GET /groups/${path}`, { as: heir.token })).body.id, second.body.id);
});

test('a reused user name does not bring the former user’s rights', async () => {
  const name = unique('again');
  const first = await seedUser(gantry, { username: name });
  const project = await seedProject(gantry, { visibility: 'private' });
  await seedMember(gantry, { user: first.id, project: project.id, access_level: 30 });
  const own = await must('POST /projects', {
    as: first.token,
    json: { name: 'own', path: 'own', visibility: 'private' },
  });
  await must(`DELETE /users/${first.id}`);
  const second = await seedUser(gantry, { username: name });
  assert.equal((await gantry.api('GET /user', { as: first.token })).status, 401);
  for (const id of [project.id, own.body.id, encodeURIComponent(`${name}/own`)]) {
    assert.equal((await gantry.api(`GET /projects/${id}`, { as: second.token })).status, 404);
  }
  assert.deepEqual((await must('GET /projects?membership=true', { as: second.token })).body, []);
});
