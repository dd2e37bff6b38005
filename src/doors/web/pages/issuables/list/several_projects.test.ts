/** Tests what lists of several projects have: a filter by project, and the choice of a project for new records. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type SeededGroup,
  type SeededProject,
  seedGroup,
  seedIssue,
  seedMember,
  seedMergeRequest,
  seedProject,
} from '../../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';

let gantry: TestService;
let group: SeededGroup;
let first: SeededProject;
let second: SeededProject;
let hidden: SeededProject;
let elsewhere: SeededProject;
let reporter: SeededVisitor;

before(async () => {
  gantry = await startTestService();
  group = await seedGroup(gantry);
  const inGroup = { namespace: group.id, visibility: 'private' } as const;
  [first, second, hidden] = [
    await seedProject(gantry, inGroup),
    await seedProject(gantry, inGroup),
    await seedProject(gantry, inGroup),
  ];
  elsewhere = await seedProject(gantry, { visibility: 'private' });
  reporter = await seedVisitor(gantry, { project: first.id, access_level: 20 });
  for (const project of [second.id, elsewhere.id])
    await seedMember(gantry, { user: reporter.id, project, access_level: 20 });
  for (const project of [first, second, hidden, elsewhere]) {
    const title = `In ${project.path}`;
    await seedIssue(gantry, { project: project.id, title, assignees: [reporter.id] });
    await seedMergeRequest(gantry, { project: project.id, title, assignees: [reporter.id] });
  }
});
after(async () => await gantry.close());

const read = async (path: string): Promise<string> => {
  const { status, text } = await reporter.visitor.get(path);
  assert.equal(status, 200, text);
  return text;
};

const lists = (): string[] => [
  `/groups/${group.full_path}/-/issues`,
  `/groups/${group.full_path}/-/merge_requests`,
  '/dashboard/issues',
  '/dashboard/merge_requests?scope=assigned-to-me',
];

const named = (text: string): SeededProject[] =>
  [first, second, hidden, elsewhere].filter(({ path }) => text.includes(`In ${path}`));

test('lists of several projects can be limited to one, in every format', async () => {
  for (const list of lists()) {
    const [path = '', query = ''] = list.split('?');
    const filtered = async (address: string, project: { full_path: string }) =>
      named(await read(`${address}?${query}&project_path=${encodeURIComponent(project.full_path)}`));
    assert.deepEqual(await filtered(path, second), [second], list);
    assert.deepEqual(await filtered(path, { full_path: hidden.full_path.toUpperCase() }), [], list);
    assert.deepEqual(await filtered(path, { full_path: 'no/such' }), [], list);
    assert.deepEqual(await filtered(`${path}/export`, second), [second], list);
    assert.deepEqual(await filtered(`${path}.atom`, second), [second], list);
    const others = path.startsWith('/groups') ? [] : [elsewhere];
    assert.deepEqual(await filtered(path, elsewhere), others, list);
    assert.match(await read(list), /id="filter_project_path"/);
  }
});

test('the filter is a chip, can be typed, and has no place in the list of a project', async () => {
  const path = `/groups/${group.full_path}/-/issues`;
  const { location } = await reporter.visitor.get(`${path}?q=project:${second.full_path}`);
  assert.equal(location, `${path}?project_path=${encodeURIComponent(second.full_path)}`);
  const text = await read(location ?? '');
  assert.ok(text.includes(`Remove the filter project = ${second.full_path}`));
  // Other projects are still suggested, and the view is one of the group.
  assert.match(text, new RegExp(`data-suggest="/api/v4/groups/${group.id}/projects`));
  const own = await read(`/${first.full_path}/issues?project_path=${second.full_path}`);
  assert.deepEqual(named(own), [first]);
  assert.doesNotMatch(own, /filter_project_path|Remove the filter| match/);
  const requests = await read(`/${first.full_path}/merge_requests?project_path=${second.full_path}`);
  assert.deepEqual(named(requests), [first]);
  assert.doesNotMatch(requests, /Remove the filter/);
});

test('a new record begins with the choice of a project in which the user may create it', async () => {
  await gantry.api(`PUT /projects/${second.id}`, { json: { issues_access_level: 'disabled' } });
  for (const list of lists()) {
    const [path = ''] = list.split('?');
    assert.ok((await read(list)).includes(`href="${path}/new"`), list);
    const noun = path.endsWith('issues') ? 'issues' : 'merge_requests';
    const offered = async (query = '') => {
      const text = await read(`${path}/new${query}`);
      return [first, second, hidden, elsewhere].filter(({ full_path }) =>
        text.includes(`href="/${full_path}/${noun}/new"`),
      );
    };
    const inGroup = noun === 'issues' ? [first] : [first, second];
    assert.deepEqual(await offered(), path.startsWith('/groups') ? inGroup : [...inGroup, elsewhere], path);
    assert.deepEqual(await offered(`?search=${first.path}`), [first], path);
    assert.deepEqual(await offered('?search=nothing-such'), [], path);
  }
  const guest = await seedVisitor(gantry);
  const missing = await guest.visitor.get(`/groups/no-such/-/issues/new`);
  assert.equal(missing.status, 404);
});

test('projects in which the user may not create a record take no place on a page of the choice', async () => {
  const user = await seedVisitor(gantry, { project: first.id, access_level: 20 });
  for (let count = 0; count < 3; count += 1) {
    const { id } = await seedProject(gantry, { visibility: 'private' });
    await seedMember(gantry, { user: user.id, project: id, access_level: 10 });
  }
  const { text } = await user.visitor.get('/dashboard/merge_requests/new?per_page=2');
  assert.ok(text.includes(`href="/${first.full_path}/merge_requests/new"`), text);
  assert.doesNotMatch(text, /page=2/);
});
