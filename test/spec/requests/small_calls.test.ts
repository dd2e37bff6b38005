/** Small endpoints that clients call beside the large ones: tokens, statuses, memberships, badges, linked issues. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import { seedGroup, seedIssue, seedMember, seedProject, seedUser, unique } from '../../support/seed.ts';
import { type TestService, startTestService } from '../../support/service.ts';

let gantry: TestService;
before(async () => void (gantry = await startTestService()));
after(async () => await gantry.close());

const send = async (line: string, as?: string, json?: object) =>
  await gantry.api(line, { ...(json && { json }), ...(as !== undefined && { as }) });

const must = async (line: string, as?: string, json?: object) => {
  const { status, body, text } = await send(line, as, json);
  assert.ok(status < 300, `${line}: ${status} ${text}`);
  return body;
};

test('rotates a token: the old one ends, the new one has its name and scopes', async () => {
  const user = await seedUser(gantry, { scopes: ['api', 'read_user'] });
  const old = await must('GET /personal_access_tokens/self', user.token);
  gantry.setTime(Date.UTC(2032, 0, 1));
  const made = await must('POST /personal_access_tokens/self/rotate', user.token);
  assert.deepEqual(
    [made.name, made.scopes, made.expires_at, made.active],
    [old.name, old.scopes, '2032-01-08', true],
  );
  assert.notEqual(made.id, old.id);
  assert.equal((await send('GET /user', user.token)).status, 401);
  assert.equal((await send('GET /user', made.token)).body.id, user.id);
  assert.equal((await send(`POST /personal_access_tokens/${old.id}/rotate`, made.token)).status, 401);
  const body = { expires_at: '2032-05-01' };
  const other = await must(`POST /personal_access_tokens/${made.id}/rotate`, made.token, body);
  assert.equal(other.expires_at, '2032-05-01');
  gantry.setTime(null);
  const stranger = await seedUser(gantry);
  assert.equal((await send(`POST /personal_access_tokens/${other.id}/rotate`, stranger.token)).status, 401);
  const byAdmin = await must(`POST /personal_access_tokens/${other.id}/rotate`);
  assert.equal(byAdmin.user_id, user.id);
  const [, audited] = (await must('GET /audit_events?kind=token.rotated')) as { target_id: number }[];
  assert.equal(audited?.target_id, made.id);
});

test('keeps the status of a user until it is cleared or ends', async () => {
  const user = await seedUser(gantry);
  const none = { emoji: null, message: null, availability: null, message_html: '', clear_status_at: null };
  assert.deepEqual(await must('GET /user/status', user.token), none);
  gantry.setTime(Date.UTC(2032, 0, 1));
  const sent = { message: 'Away <now>', availability: 'busy', clear_status_after: '3_hours' };
  const set = await must('PUT /user/status', user.token, sent);
  assert.deepEqual(set, {
    emoji: 'speech_balloon',
    message: 'Away <now>',
    availability: 'busy',
    message_html: 'Away &lt;now&gt;',
    clear_status_at: '2032-01-01T03:00:00.000Z',
  });
  assert.deepEqual(await must(`GET /users/${user.username.toUpperCase()}/status`), set);
  gantry.setTime(Date.UTC(2032, 0, 1, 3));
  assert.deepEqual(await must(`GET /users/${user.id}/status`), none);
  gantry.setTime(null);
  await must('PUT /user/status', user.token, { emoji: 'coffee' });
  assert.equal((await must('GET /user/status', user.token)).emoji, 'coffee');
  assert.deepEqual(await must('PUT /user/status', user.token, { emoji: '', message: '' }), none);
  for (const wrong of [{ message: 'x'.repeat(101) }, { emoji: '<b>' }, { availability: 'gone' }]) {
    assert.equal((await send('PUT /user/status', user.token, wrong)).status, 400);
  }
  assert.equal((await send('GET /users/nobody-of-that-name/status')).status, 404);
});

test('lists memberships, users, and the groups above a project', async () => {
  const [owner, member] = [await seedUser(gantry), await seedUser(gantry)];
  const top = await seedGroup(gantry, { owner: owner.id, visibility: 'private' });
  const group = await seedGroup(gantry, { parent: top.id });
  const project = await seedProject(gantry, { namespace: group.id });
  await seedMember(gantry, { user: member.id, project: project.id, access_level: 30 });
  await seedMember(gantry, { user: member.id, group: group.id, access_level: 20 });
  const memberships = await send(`GET /users/${member.id}/memberships`);
  assert.deepEqual(memberships.body, [
    { source_id: project.id, source_name: project.path, source_type: 'Project', access_level: 30 },
    { source_id: group.id, source_name: group.path, source_type: 'Namespace', access_level: 20 },
  ]);
  const [only] = await must(`GET /users/${member.id}/memberships?type=Namespace`);
  assert.equal(only.source_id, group.id);
  const users = await send(`GET /projects/${project.id}/users`, member.token);
  assert.deepEqual(
    users.body.map(({ id }: { id: number }) => id),
    [owner.id, member.id],
  );
  assert.deepEqual(Object.keys(users.body[0]), ['id', 'name', 'username', 'state', 'avatar_url', 'web_url']);
  const found = `GET /projects/${project.id}/users?search=${member.username}&skip_users[]=${member.id}`;
  assert.deepEqual(await must(found, member.token), []);
  const groupsOf = async (as: string) =>
    (await must(`GET /projects/${project.id}/groups`, as)).map(({ id }: { id: number }) => id);
  assert.deepEqual(await groupsOf(owner.token), [top.id, group.id]);
  const stranger = await seedUser(gantry);
  assert.deepEqual(await groupsOf(stranger.token), [group.id]);
  assert.deepEqual(await must(`GET /projects/${project.id}/invited_groups`), []);
  assert.deepEqual(await must(`GET /groups/${group.id}/projects/shared`), []);
  assert.deepEqual(await must('GET /user/emails', member.token), []);
  assert.equal((await send('GET /user/emails/1', member.token)).status, 404);
});

test('says whether a path is taken, and which is free', async () => {
  const user = await seedUser(gantry);
  const group = await seedGroup(gantry, { owner: user.id });
  const below = await seedGroup(gantry, { parent: group.id });
  const exists = async (path: string, query = '') =>
    await must(`GET /namespaces/${path}/exists${query}`, user.token);
  assert.deepEqual(await exists(unique('free')), { exists: false, suggests: [] });
  await seedGroup(gantry, { path: `${group.path}1` });
  const expected = { exists: true, suggests: [`${group.path.toUpperCase()}2`] };
  assert.deepEqual(await exists(group.path.toUpperCase()), expected);
  assert.equal((await exists(below.path)).exists, false);
  const within = await exists(below.path, `?parent_id=${group.id}`);
  assert.deepEqual(within, { exists: true, suggests: [`${below.path}1`] });
});

test('counts what there is', async () => {
  const numbers = await must('GET /application/statistics');
  const { id } = await seedProject(gantry);
  await must(`POST /projects/${id}/issues`, undefined, { title: 'x' });
  const later = await must('GET /application/statistics');
  assert.deepEqual([later.projects - numbers.projects, later.issues - numbers.issues], [1, 1]);
  assert.deepEqual(Object.keys(later).length, 11);
});

test('shows badges of a project and of the groups above it, with their placeholders filled in', async () => {
  const user = await seedUser(gantry);
  const group = await seedGroup(gantry, { owner: user.id });
  const { id, full_path, path } = await seedProject(gantry, { namespace: group.id });
  const own = {
    link_url: 'https://ci.example.com/%{project_path}?%{unknown}',
    image_url: 'https://ci.example.com/%{project_id}.svg',
    name: 'ci',
  };
  const made = await must(`POST /projects/${id}/badges`, user.token, own);
  assert.deepEqual(made, {
    name: 'ci',
    link_url: own.link_url,
    image_url: own.image_url,
    rendered_link_url: `https://ci.example.com/${full_path}?%{unknown}`,
    rendered_image_url: `https://ci.example.com/${id}.svg`,
    id: made.id,
    kind: 'project',
  });
  const shared = { link_url: 'https://example.com/%{project_name}', image_url: 'https://example.com/a.svg' };
  const ofGroup = await must(`POST /groups/${group.id}/badges`, user.token, shared);
  assert.deepEqual([ofGroup.kind, ofGroup.rendered_link_url, ofGroup.name], ['group', shared.link_url, null]);
  const listed = await send(`GET /projects/${id}/badges`, user.token);
  assert.deepEqual(
    listed.body.map(({ rendered_link_url }: { rendered_link_url: string }) => rendered_link_url),
    [made.rendered_link_url, `https://example.com/${path}`],
  );
  assert.equal(listed.headers.get('x-total'), '2');
  assert.equal((await must(`GET /projects/${id}/badges?name=ci`)).length, 1);
  const foreign = `/projects/${id}/badges/${ofGroup.id}`;
  assert.equal((await send(`PUT ${foreign}`, user.token, { name: 'x' })).status, 404);
  const wrong = [
    { ...own, link_url: 'javascript:alert(1)' },
    { ...own, image_url: 'nothing' },
  ];
  for (const body of wrong)
    assert.equal((await send(`POST /projects/${id}/badges`, user.token, body)).status, 400);
  const changed = await must(`PUT /projects/${id}/badges/${made.id}`, user.token, { name: 'other' });
  assert.deepEqual([changed.name, changed.link_url], ['other', own.link_url]);
  const query = new URLSearchParams({ link_url: own.link_url, image_url: own.image_url });
  const shown = await must(`GET /projects/${id}/badges/render?${query.toString()}`, user.token);
  assert.equal(shown.rendered_link_url, made.rendered_link_url);
  await must(`DELETE /projects/${id}/badges/${made.id}`, user.token);
  assert.equal((await send(`GET /projects/${id}/badges/${made.id}`, user.token)).status, 404);
});

test('links issues, and shows each link from both sides to those who see both', async () => {
  const [user, guest] = [await seedUser(gantry), await seedUser(gantry)];
  const [here, there] = [
    await seedProject(gantry, { owner: user.id }),
    await seedProject(gantry, { owner: user.id, visibility: 'private' }),
  ];
  const [one, two] = [
    await seedIssue(gantry, { project: here.id, title: 'One' }),
    await seedIssue(gantry, { project: there.id, title: 'Two' }),
  ];
  const path = `/projects/${here.id}/issues/${one.iid}/links`;
  const back = `/projects/${there.id}/issues/${two.iid}/links`;
  const target = { target_project_id: there.id, target_issue_iid: two.iid };
  const made = await must(`POST ${path}`, user.token, { ...target, link_type: 'blocks' });
  assert.deepEqual(
    [made.source_issue.title, made.target_issue.title, made.link_type],
    ['One', 'Two', 'blocks'],
  );
  const [listed] = await must(`GET ${path}`, user.token);
  assert.deepEqual(
    [listed.id, listed.issue_link_id, listed.link_type, typeof listed.link_created_at],
    [two.id, made.id, 'blocks', 'string'],
  );
  const [other] = await must(`GET ${back}`, user.token);
  assert.deepEqual([other.id, other.link_type], [one.id, 'is_blocked_by']);
  assert.equal((await must(`GET ${back}/${made.id}`, user.token)).source_issue.title, 'Two');
  const again = { target_project_id: here.id, target_issue_iid: one.iid };
  assert.equal((await send(`POST ${back}`, user.token, again)).status, 409);
  assert.equal((await send(`POST ${path}`, user.token, again)).status, 400);
  const hidden = await send(`GET ${path}`, guest.token);
  assert.deepEqual([hidden.body, hidden.headers.get('x-total')], [[], '0']);
  assert.equal((await send(`GET ${path}/${made.id}`, guest.token)).status, 404);
  assert.equal((await send(`POST ${path}`, guest.token, again)).status, 403);
  const removed = await must(`DELETE ${path}/${made.id}`, user.token);
  assert.equal(removed.target_issue.title, 'Two');
  assert.deepEqual(await must(`GET ${back}`, user.token), []);
});

test('lists merge requests that mention an issue, and resets approvals', async () => {
  const user = await seedUser(gantry);
  const { id } = await seedProject(gantry, { owner: user.id });
  await seedCommit(gantry, id, { a: '1' });
  await must(`POST /projects/${id}/issues`, user.token, { title: 'Broken' });
  const actions = [{ action: 'create', file_path: 'b', content: 'b' }];
  const commit = { branch: 'topic', start_branch: 'main', commit_message: 'x', actions };
  await must(`POST /projects/${id}/repository/commits`, user.token, commit);
  const pair = { source_branch: 'topic', target_branch: 'main', title: 'About', description: 'See #1' };
  const { iid, id: request } = await must(`POST /projects/${id}/merge_requests`, user.token, pair);
  const related = await send(`GET /projects/${id}/issues/1/related_merge_requests`, user.token);
  assert.deepEqual([related.body.length, related.body[0]?.id], [1, request]);
  assert.equal(related.headers.get('x-total'), '1');
  const path = `/projects/${id}/merge_requests/${iid}`;
  await must(`POST ${path}/approve`, user.token);
  assert.equal((await must(`GET ${path}/approvals`, user.token)).approved_by.length, 1);
  assert.equal((await send(`PUT ${path}/reset_approvals`, user.token)).status, 202);
  assert.equal((await must(`GET ${path}/approvals`, user.token)).approved_by.length, 0);
  await must(`PUT /projects/${id}`, user.token, { merge_requests_access_level: 'disabled' });
  assert.deepEqual(await must(`GET /projects/${id}/issues/1/related_merge_requests`, user.token), []);
});

test('records links of issues on both, without naming an issue that the reader cannot see', async () => {
  const [user, guest] = [await seedUser(gantry), await seedUser(gantry)];
  const [here, there] = [
    await seedProject(gantry, { owner: user.id }),
    await seedProject(gantry, { owner: user.id, visibility: 'private' }),
  ];
  const [one, two, three] = [
    await seedIssue(gantry, { project: here.id }),
    await seedIssue(gantry, { project: here.id }),
    await seedIssue(gantry, { project: there.id }),
  ];
  const pathOf = (issue: { iid: number }, project = here): string =>
    `/projects/${project.id}/issues/${issue.iid}`;
  const { next_after } = await must('GET /changes', user.token);
  const link = async (
    other: { iid: number },
    project: { id: number },
    link_type: string,
  ): Promise<number> => {
    const json = { target_project_id: project.id, target_issue_iid: other.iid, link_type };
    return (await must(`POST ${pathOf(one)}/links`, user.token, json)).id;
  };
  const related = await link(two, here, 'relates_to');
  await must(`DELETE ${pathOf(one)}/links/${related}`, user.token);
  await link(two, here, 'blocks');
  await link(three, there, 'is_blocked_by');
  const notesOf = async (issue: string, token = user.token): Promise<string[]> =>
    (await must(`GET ${issue}/notes?sort=asc`, token)).map(({ body }: { body: string }) => body);
  const own = [
    `marked this issue as related to #${two.iid}`,
    `removed the relation with #${two.iid}`,
    `marked this issue as blocking #${two.iid}`,
  ];
  assert.deepEqual(await notesOf(pathOf(one)), [
    ...own,
    `marked this issue as blocked by ${there.full_path}#${three.iid}`,
  ]);
  assert.deepEqual(await notesOf(pathOf(one), guest.token), [
    ...own,
    'marked this issue as blocked by another issue',
  ]);
  assert.deepEqual(await notesOf(pathOf(two)), [
    `marked this issue as related to #${one.iid}`,
    `removed the relation with #${one.iid}`,
    `marked this issue as blocked by #${one.iid}`,
  ]);
  assert.deepEqual(await notesOf(pathOf(three, there)), [
    `marked this issue as blocking ${here.full_path}#${one.iid}`,
  ]);
  // The text keeps the former path, which leads to the same project.
  await must(`PUT /projects/${there.id}`, user.token, { path: unique('renamed') });
  const [renamed, hidden] = [await notesOf(pathOf(one)), await notesOf(pathOf(one), guest.token)];
  assert.equal(renamed.at(-1), `marked this issue as blocked by ${there.full_path}#${three.iid}`);
  assert.equal(hidden.at(-1), 'marked this issue as blocked by another issue');
  await gantry.api(`PUT ${pathOf(two)}`, { json: { confidential: true } });
  assert.deepEqual(
    (await notesOf(pathOf(one), guest.token)).slice(0, 3),
    own.map((text) => text.replace(/#\d+$/, 'another issue')),
  );
  const { changes } = await must(`GET /changes?after=${next_after}`, user.token);
  type Change = { kind: string; action: string; target_iid: number };
  assert.deepEqual(
    changes
      .filter(({ action }: Change) => action.endsWith('linked'))
      .map(({ kind, action, target_iid }: Change) => `${kind}.${action} ${target_iid}`)
      .slice(0, 4),
    ['linked', 'linked', 'unlinked', 'unlinked'].map(
      (action, at) => `issue.${action} ${at % 2 === 0 ? one.iid : two.iid}`,
    ),
  );
});
