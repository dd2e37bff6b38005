/** Tests the completion of references in Markdown fields. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  seedGroup,
  seedIssue,
  seedMember,
  seedMergeRequest,
  seedProject,
  seedUser,
  unique,
} from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let stranger: Visitor;

before(async () => {
  gantry = await startTestService();
  ({ visitor: stranger } = await seedVisitor(gantry));
});
after(async () => await gantry.close());

type Completion = { insert: string; text: string; hint?: string; color?: string };

const complete = async (visitor: Visitor, query: Record<string, string>): Promise<Completion[]> => {
  const seen = await visitor.get(`/-/completions?${new URLSearchParams(query).toString()}`);
  assert.equal(seen.status, 200, seen.text);
  assert.equal(seen.headers.get('content-type'), 'application/json; charset=utf-8');
  return JSON.parse(seen.text) as Completion[];
};

const inserts = async (visitor: Visitor, query: Record<string, string>): Promise<string[]> =>
  (await complete(visitor, query)).map(({ insert }) => insert);

/** A private project of a group, with a reporter. */
const seedPlace = async (visibility: 'private' | 'public' = 'private') => {
  const group = await seedGroup(gantry, { visibility });
  const project = await seedProject(gantry, { namespace: group.id, visibility });
  const reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
  return { group, project, reporter, full_path: project.full_path };
};

test('completes members of the project and of its groups, by name and user name', async () => {
  const { group, full_path, reporter } = await seedPlace();
  const above = await seedUser(gantry, { name: 'Grace Hopper' });
  await seedMember(gantry, { user: above.id, group: group.id, access_level: 30 });
  const query = { kind: 'user', project: full_path };
  assert.deepEqual(await complete(reporter.visitor, { ...query, search: 'grace' }), [
    { insert: `@${above.username}`, text: 'Grace Hopper', hint: `@${above.username}` },
  ]);
  const all = await inserts(reporter.visitor, query);
  assert.ok(all.includes(`@${reporter.username}`) && all.includes(`@${above.username}`));
  const outsider = await seedUser(gantry, { name: 'Grace Outside' });
  assert.ok(!(await inserts(reporter.visitor, { ...query, search: outsider.username })).length);
});

test('completes participants of the issue, who need not be members', async () => {
  const { project, full_path, reporter } = await seedPlace('public');
  const author = await seedUser(gantry, { name: 'Katherine Johnson' });
  const { iid } = await seedIssue(gantry, { project: project.id, author: author.id });
  const query = { kind: 'user', project: full_path, search: 'kath' };
  assert.deepEqual(await inserts(reporter.visitor, query), []);
  const here = { ...query, noun: 'issues', iid: String(iid) };
  assert.deepEqual(await inserts(reporter.visitor, here), [`@${author.username}`]);
  const secret = await seedIssue(gantry, { project: project.id, author: author.id, confidential: 1 });
  assert.deepEqual(await inserts(stranger, { ...here, iid: String(secret.iid) }), []);
});

test('without a project, completes active users and emoji', async () => {
  const user = await seedUser(gantry);
  assert.deepEqual(await inserts(stranger, { kind: 'user', search: user.username }), [`@${user.username}`]);
  for (const kind of ['issue', 'merge_request', 'label', 'milestone'])
    assert.deepEqual(await inserts(stranger, { kind }), []);
  const [first] = await complete(stranger, { kind: 'emoji', search: 'tada' });
  assert.deepEqual(first, { insert: ':tada:', text: '🎉 tada' });
});

test('completes issues and merge requests by the start of their number and by title', async () => {
  const { project, full_path, reporter } = await seedPlace();
  const title = unique('title');
  for (let count = 0; count < 12; count += 1)
    await seedIssue(gantry, { project: project.id, title: count === 3 ? title : 'Other' });
  const query = { kind: 'issue', project: full_path };
  assert.deepEqual(await inserts(reporter.visitor, { ...query, search: '1' }), ['#1', '#10', '#11', '#12']);
  assert.deepEqual(await complete(reporter.visitor, { ...query, search: title }), [
    { insert: '#4', text: title, hint: '#4' },
  ]);
  assert.equal((await inserts(reporter.visitor, query)).length, 8, 'bounded');
  const request = await seedMergeRequest(gantry, { project: project.id, title, state: 'merged' });
  const found = await complete(reporter.visitor, { ...query, kind: 'merge_request', search: title });
  assert.deepEqual(found, [{ insert: `!${request.iid}`, text: title, hint: `!${request.iid} merged` }]);
});

test('completes labels and milestones of the project and its groups, in quotes where a name needs them', async () => {
  const { group, project, full_path, reporter } = await seedPlace();
  const label = async (owner: string, name: string) =>
    await gantry.api(`POST /${owner}/labels`, { json: { name, color: '#336699' } });
  await label(`projects/${project.id}`, 'needs work');
  await label(`groups/${group.id}`, 'kind::bug');
  await label(`projects/${project.id}`, '2026');
  await label(`projects/${project.id}`, 'wip-');
  await gantry.api(`POST /groups/${group.id}/milestones`, {
    json: { title: 'v1.0', due_date: '2031-02-03' },
  });
  const query = { kind: 'label', project: full_path };
  assert.deepEqual(await inserts(reporter.visitor, query), [
    '~"2026"',
    '~kind::bug',
    '~"needs work"',
    '~"wip-"',
  ]);
  assert.deepEqual(await complete(reporter.visitor, { ...query, search: 'WORK' }), [
    { insert: '~"needs work"', text: 'needs work', color: '#336699' },
  ]);
  assert.deepEqual(await complete(reporter.visitor, { ...query, kind: 'milestone', search: 'v1' }), [
    { insert: '%v1.0', text: 'v1.0', hint: 'due 2031-02-03' },
  ]);
});

test('offers the quick actions that a record has, and those of a new one', async () => {
  const offered = async (actions: string, search = ''): Promise<string[]> =>
    await inserts(stranger, { kind: 'command', actions, search });
  const [issue, request] = [await offered('issue'), await offered('merge_request')];
  assert.ok(issue.includes('/move') && issue.includes('/assign') && !issue.includes('/merge'), issue.join());
  assert.ok(request.includes('/merge') && request.includes('/assign') && !request.includes('/move'));
  const fresh = await offered('new_merge_request');
  assert.ok(fresh.includes('/draft') && !fresh.includes('/merge') && !fresh.includes('/close'));
  assert.ok(!(await offered('new_issue')).includes('/draft'));
  assert.deepEqual(
    await complete(stranger, { kind: 'command', actions: 'merge_request', search: 'target' }),
    [{ insert: '/target_branch', text: '/target_branch', hint: 'branch · Change the target branch' }],
  );
  // Names that start so come first, then others; the other spellings of a word find it, too.
  assert.deepEqual((await offered('merge_request', 'review')).slice(0, 2), [
    '/request_review',
    '/unassign_reviewer',
  ]);
  assert.deepEqual(await inserts(stranger, { kind: 'command' }), [], 'a text that executes none');
});

test('what is hidden completes nothing: issues, features, and projects as if missing', async () => {
  const { project, full_path } = await seedPlace('public');
  const title = unique('title');
  await seedIssue(gantry, { project: project.id, title, confidential: 1 });
  assert.deepEqual(await inserts(stranger, { kind: 'issue', project: full_path, search: title }), []);
  const hidden = await seedPlace();
  const address = (path: string) => `/-/completions?kind=user&project=${encodeURIComponent(path)}`;
  const [seen, missing] = [
    await stranger.get(address(hidden.full_path)),
    await stranger.get(address('no/such')),
  ];
  assert.deepEqual([seen.status, seen.text], [404, missing.text]);
  const anonymous = await openVisitor(gantry).get('/-/completions?kind=emoji');
  assert.match(anonymous.location ?? '', /^\/users\/sign_in/);
  assert.equal((await stranger.get('/-/completions?kind=other')).status, 400);
});
