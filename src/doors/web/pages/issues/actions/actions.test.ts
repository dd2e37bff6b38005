/** Tests the forms of an issue. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type SeededProject,
  seedIssue,
  seedMember,
  seedProject,
} from '../../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { contentIn } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: SeededProject;
let owner: SeededVisitor;
let reporter: SeededVisitor;
let guest: SeededVisitor;
let stranger: SeededVisitor;

const list = () => `/${project.full_path}/issues`;
const one = async (iid: number) => (await gantry.api(`GET /projects/${project.id}/issues/${iid}`)).body;
const notes = async (iid: number) =>
  (await gantry.api(`GET /projects/${project.id}/issues/${iid}/notes?sort=asc`)).body;
const fresh = async (attributes: object = {}): Promise<{ iid: number; path: string; id: number }> => {
  const { iid, id } = await seedIssue(gantry, { project: project.id, ...attributes });
  return { iid, id, path: `${list()}/${iid}` };
};

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'public' });
  owner = await seedVisitor(gantry, { project: project.id, access_level: 50 });
  reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
  guest = await seedVisitor(gantry, { project: project.id, access_level: 10 });
  stranger = await seedVisitor(gantry);
});
after(async () => await gantry.close());

test('creates an issue, prefilled from the address', async () => {
  const { text } = await reporter.visitor.get(`${list()}/new?issue[title]=A+title&description=%3Cb%3E`);
  assert.match(text, /value="A title"[\s\S]+&lt;b&gt;<\/textarea>/);
  const created = await reporter.visitor.post(list(), {
    title: 'Loads drop',
    description: 'First\r\nsecond\n/estimate 3h',
    confidential: '1',
    labels: 'bug, docs',
    'assignee_ids[]': String(guest.id),
    milestone_id: '',
    due_date: '2027-01-02',
  });
  assert.match(created.location ?? '', /\/issues\/\d+$/);
  const issue = await one(Number(created.location?.split('/').at(-1)));
  assert.deepEqual(
    [issue.title, issue.description, issue.confidential, issue.labels, issue.due_date, issue.milestone],
    ['Loads drop', 'First\nsecond', true, ['bug', 'docs'], '2027-01-02', null],
  );
  assert.deepEqual([issue.assignees[0].id, issue.time_stats.time_estimate], [guest.id, 10_800]);
});

test('shows what is wrong with a new issue, and keeps the input', async () => {
  await stranger.visitor.get(`${list()}/new`);
  const bad = await stranger.visitor.post(list(), { title: ' ', description: 'kept' });
  assert.equal(bad.status, 422);
  assert.match(bad.text, /Title can&#39;t be blank[\s\S]+kept<\/textarea>/);
  const undated = await reporter.visitor.post(list(), { title: 'kept title', due_date: 'someday' });
  assert.deepEqual([undated.status, /value="kept title"/.test(undated.text)], [422, true]);
});

test('edits title and description, but not over the edit of somebody else', async () => {
  const { iid, path } = await fresh({ title: 'Before', description: 'One\r\ntwo' });
  const baseIn = (text: string): string => /name="base" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const { text } = await reporter.visitor.get(`${path}/edit`);
  const edit = { title: 'After', description: 'One\r\ntwo', base: baseIn(text) };
  assert.equal((await reporter.visitor.post(`${path}/edit`, edit)).location, path);
  assert.deepEqual([(await one(iid)).title, (await one(iid)).description], ['After', 'One\r\ntwo']);
  assert.equal((await reporter.visitor.post(`${path}/edit`, edit)).location, path, 'sent twice');
  const late = await reporter.visitor.post(`${path}/edit`, { ...edit, description: 'Mine' });
  assert.equal(late.status, 422);
  assert.match(
    late.text,
    /edited this issue meanwhile[\s\S]+Mine<\/textarea>[\s\S]+Saved meanwhile[\s\S]+One\r?\ntwo/,
  );
  assert.match(late.text, /Overwrite with my version<\/button>/);
  assert.match(late.text, new RegExp(`href="${path}/edit" data-edit>Discard mine`));
  const unstorable = await reporter.visitor.post(`${path}/edit`, { ...edit, description: 'Kept\0' });
  assert.deepEqual([unstorable.status, /Kept<\/textarea>/.test(unstorable.text)], [422, true]);
  const titled = await reporter.visitor.post(`${path}/edit`, { ...edit, title: 'Mine' });
  assert.match(titled.text, /Saved meanwhile[\s\S]+<h3>Title<\/h3><p class="lines">After<\/p>/);
  assert.doesNotMatch(titled.text, /<h3>Description/);
  const again = await reporter.visitor.post(`${path}/edit`, {
    ...edit,
    description: 'Mine',
    base: baseIn(late.text),
  });
  assert.equal(again.location, path);
  assert.equal((await one(iid)).description, 'Mine');
  for (const { visitor } of [guest, stranger]) {
    assert.equal((await visitor.get(`${path}/edit`)).status, 403);
    assert.equal((await visitor.post(`${path}/edit`, edit)).status, 403);
  }
});

test('edits a comment, but not over the edit of somebody else', async () => {
  const { iid, path } = await fresh();
  await reporter.visitor.get(path);
  const { location } = await reporter.visitor.post(`${path}/notes`, { body: 'Old' });
  const id = /#note_(\d+)$/.exec(location ?? '')?.[1];
  const form = `${path}/notes/${id}`;
  const note = `/projects/${project.id}/issues/${iid}/notes/${id}`;
  const { text } = await reporter.visitor.get(`${form}/edit`);
  const base = /name="base" value="([^"]+)"/.exec(text)?.[1] ?? '';
  await gantry.api(`PUT ${note}`, { json: { body: 'Theirs' } });
  const late = await reporter.visitor.post(form, { body: 'Mine', base });
  assert.equal(late.status, 422);
  assert.match(late.text, /edited this comment meanwhile[^]+Mine<\/textarea>[^]+Saved meanwhile[^]+>Theirs</);
  const fresher = /name="base" value="([^"]+)"/.exec(late.text)?.[1] ?? '';
  for (const time of ['first', 'second']) {
    const again = await reporter.visitor.post(form, { body: 'Mine', base: fresher });
    assert.equal(again.location, `${path}#note_${id}`, time);
  }
  assert.equal((await gantry.api(`GET ${note}`)).body.body, 'Mine');
});

test('changes labels, assignees, milestone, due date and flags; refuses those who may not', async () => {
  const { iid, path } = await fresh();
  const milestone = await gantry.api(`POST /projects/${project.id}/milestones`, { json: { title: 'next' } });
  await reporter.visitor.get(path);
  const forms = [
    { 'labels[]': 'bug', add_labels: 'fresh' },
    { 'assignee_ids[]': '', assignee_username: `@${reporter.username}` },
    { milestone_id: String(milestone.body.id) },
    { due_date: '2027-03-04' },
    { discussion_locked: '1' },
    { state_event: 'close' },
    { confidential: '1' },
  ];
  for (const form of forms) {
    assert.equal((await stranger.visitor.post(path, form)).status, 403);
    assert.equal((await reporter.visitor.post(path, form)).location, path);
  }
  const issue = await one(iid);
  assert.deepEqual(issue.labels, ['bug', 'fresh']);
  assert.deepEqual(
    [issue.assignees[0].id, issue.milestone.title, issue.due_date],
    [reporter.id, 'next', '2027-03-04'],
  );
  assert.deepEqual([issue.discussion_locked, issue.confidential, issue.state], [true, true, 'closed']);
  await reporter.visitor.post(path, { 'labels[]': '' });
  await reporter.visitor.post(path, { milestone_id: '' });
  await reporter.visitor.post(path, { due_date: '' });
  const cleared = await one(iid);
  assert.deepEqual([cleared.labels, cleared.milestone, cleared.due_date], [[], null, null]);
  const unknown = await reporter.visitor.post(path, { assignee_username: 'nobody-at-all' });
  assert.equal(unknown.status, 422);
  assert.match(unknown.text, /The user “nobody-at-all” does not exist/);
});

test('refuses the fields of members to an author who is none', async () => {
  const { path, iid } = await fresh({ author: stranger.id });
  assert.match((await stranger.visitor.get(path)).text, /Close issue/);
  assert.equal((await stranger.visitor.post(path, { 'labels[]': 'bug' })).status, 403);
  assert.equal((await stranger.visitor.post(path, { state_event: 'close' })).location, path);
  assert.equal((await one(iid)).state, 'closed');
});

test('comments, starts threads, replies, resolves, and closes with a comment', async () => {
  const { iid, path } = await fresh();
  await reporter.visitor.get(path);
  const made = await reporter.visitor.post(`${path}/notes`, {
    body: 'Hello\r\n/estimate 1h',
    intent: 'comment',
  });
  assert.match(made.location ?? '', /#note_\d+$/);
  await reporter.visitor.post(`${path}/notes`, { body: '/confidential' });
  const thread = await reporter.visitor.post(`${path}/notes`, { body: 'Question', intent: 'thread' });
  const { text } = await reporter.visitor.get(thread.location ?? '');
  const discussion =
    /name="discussion_id" value="([^"]+)"[\s\S]*$/.exec(text.slice(text.indexOf('Question')))?.[1] ?? '';
  await reporter.visitor.post(`${path}/notes`, { body: 'Answer', discussion_id: discussion });
  assert.equal((await reporter.visitor.post(`${path}/discussions/${discussion}/resolve`)).status, 403);
  await owner.visitor.get(path);
  assert.equal((await owner.visitor.post(`${path}/discussions/${discussion}/resolve`)).status, 303);
  assert.match((await owner.visitor.get(path)).text, /Resolved by Name of[\s\S]+Reopen thread/);
  await reporter.visitor.post(`${path}/notes`, { body: 'Done', intent: 'close' });
  const issue = await one(iid);
  assert.deepEqual([issue.state, issue.confidential, issue.time_stats.time_estimate], ['closed', true, 3600]);
  const bodies = (await notes(iid)).filter((note: { system: boolean }) => !note.system);
  assert.deepEqual(
    bodies.map(({ body }: { body: string }) => body),
    ['Hello', 'Question', 'Answer', 'Done'],
  );
  await reporter.visitor.post(`${path}/notes`, { body: ' ', intent: 'reopen' });
  assert.equal((await one(iid)).state, 'opened');
  const blank = await reporter.visitor.post(`${path}/notes`, { body: ' ' });
  assert.deepEqual([blank.status, /note can&#39;t be blank/i.test(blank.text)], [422, true]);
  const useless = await reporter.visitor.post(`${path}/notes`, { body: '/reopen' });
  assert.deepEqual([useless.status, />\s*\/reopen<\/textarea>/.test(useless.text)], [422, true]);
});

test('lets nobody comment on a locked discussion but members', async () => {
  const { path, iid } = await fresh({ author: stranger.id });
  await stranger.visitor.get(path);
  await stranger.visitor.post(`${path}/notes`, { body: 'Mine' });
  const [{ id }] = await notes(iid);
  await reporter.visitor.get(path);
  await reporter.visitor.post(path, { discussion_locked: '1' });
  const { text } = await stranger.visitor.get(path);
  assert.match(text, /The discussion is locked/);
  assert.doesNotMatch(text, /action="[^"]+\/(?:notes|award_emoji)"/);
  for (const [below, form] of Object.entries({
    '/notes': { body: 'x' },
    [`/notes/${id}`]: { body: 'x' },
    [`/notes/${id}/delete`]: {},
  })) {
    assert.equal((await stranger.visitor.post(path + below, form)).status, 403, below);
  }
  assert.equal((await stranger.visitor.post(`${path}/award_emoji`, { name: 'tada' })).status, 404);
  await guest.visitor.get(path);
  assert.equal((await guest.visitor.post(`${path}/notes`, { body: 'A member' })).status, 303);
});

test('edits and deletes own comments, and none of others', async () => {
  const { path, iid } = await fresh();
  await guest.visitor.get(path);
  await guest.visitor.post(`${path}/notes`, { body: 'Teh' });
  const [{ id }] = await notes(iid);
  assert.match((await guest.visitor.get(path)).text, new RegExp(`/notes/${id}/edit"`));
  assert.doesNotMatch((await reporter.visitor.get(path)).text, new RegExp(`/notes/${id}/edit"`));
  assert.equal((await reporter.visitor.get(`${path}/notes/${id}/edit`)).status, 403);
  assert.equal((await reporter.visitor.post(`${path}/notes/${id}`, { body: 'x' })).status, 403);
  assert.match((await guest.visitor.get(`${path}/notes/${id}/edit`)).text, /Teh<\/textarea>/);
  const blank = await guest.visitor.post(`${path}/notes/${id}`, { body: '' });
  assert.deepEqual([blank.status, /blank/.test(blank.text)], [422, true]);
  const unstorable = await guest.visitor.post(`${path}/notes/${id}`, { body: 'Kept\0' });
  assert.deepEqual([unstorable.status, /Kept<\/textarea>/.test(unstorable.text)], [422, true]);
  await guest.visitor.post(`${path}/notes/${id}`, { body: 'The\r\nend' });
  assert.equal((await notes(iid))[0].body, 'The\nend');
  assert.equal((await guest.visitor.post(`${path}/notes/${id}/delete`)).location, path);
  assert.deepEqual(await notes(iid), []);
  assert.equal((await guest.visitor.get(`${path}/notes/${id}/edit`)).status, 404);
});

test('reacts, subscribes and adds to-do items; a second click takes back or changes nothing', async () => {
  const { path } = await fresh();
  await guest.visitor.get(path);
  await guest.visitor.post(`${path}/award_emoji`, { name: 'tada' });
  assert.match((await guest.visitor.get(path)).text, /tada: 1, including yours/);
  await guest.visitor.post(`${path}/award_emoji`, { name: 'tada' });
  assert.doesNotMatch((await guest.visitor.get(path)).text, /tada: 1/);
  for (const below of ['/subscribe', '/subscribe', '/todo', '/todo']) {
    assert.equal((await guest.visitor.post(path + below)).location, path);
  }
  assert.match((await guest.visitor.get(path)).text, /Unsubscribe<[\s\S]+Mark to-do item as done/);
  for (const below of ['/unsubscribe', '/todo/done', '/todo/done']) await guest.visitor.post(path + below);
  assert.match((await guest.visitor.get(path)).text, />Subscribe<[\s\S]+Add a to-do item/);
});

test('sets the estimate and adds spent time', async () => {
  const { path, iid } = await fresh();
  await reporter.visitor.get(path);
  await reporter.visitor.post(`${path}/time`, { time_estimate: '1d', spend: '2h' });
  const { time_estimate, total_time_spent } = (await one(iid)).time_stats;
  assert.deepEqual([time_estimate, total_time_spent], [28_800, 7200]);
  const bad = await reporter.visitor.post(`${path}/time`, { spend: 'soon' });
  assert.deepEqual([bad.status, /invalid format/.test(bad.text)], [422, true]);
  assert.equal((await guest.visitor.post(`${path}/time`, { spend: '1h' })).status, 403);
});

test('shows the time spent against the estimate, and what it was spent on', async () => {
  const { path, iid } = await fresh();
  const { text: empty } = await reporter.visitor.get(path);
  assert.doesNotMatch(empty, /class="bar/);
  const send = async (sent: Record<string, string>) => await reporter.visitor.post(`${path}/time`, sent);
  await send({ time_estimate: '4h', spend: '1h', summary: ' Read <it> ', spent_on: '2026-01-02' });
  const shown = contentIn(await reporter.visitor.get(path));
  assert.match(shown, /1h spent of 4h <span class="muted">\(25 %\)[^]*?<rect width="25%"/);
  assert.match(shown, /Time entries[^]*?<time datetime="2026-01-02">[^]*?<p>Read &lt;it&gt;<\/p>/);
  const api = `POST /projects/${project.id}/issues/${iid}/add_spent_time`;
  await gantry.api(api, { json: { duration: '5h', summary: 'Through the API' } });
  const over = contentIn(await reporter.visitor.get(path));
  assert.match(over, /6h spent of 4h [^]*2h over the estimate[^]*<p>Through the API<\/p>/);
  for (const [sent, problem] of [
    [{ spend: '1h', spent_on: '9999-01-01' }, /can&#39;t be in the future/],
    [{ spend: '', summary: 'Nothing' }, /can&#39;t be blank/],
    [{ spend: '1h', spent_on: 'soon' }, null],
  ] as const) {
    const { status, text } = await send({ ...sent });
    assert.ok(problem === null ? status === 400 : status === 422 && problem.test(text), text);
  }
  assert.equal((await one(iid)).time_stats.total_time_spent, 21_600);
  const long = await gantry.api(api, { json: { duration: '1h', summary: 'x'.repeat(256) } });
  assert.equal(long.status, 400);
});

test('deletes an entry of time: users their own, maintainers any', async () => {
  const { path, iid } = await fresh();
  const maintainer = await seedVisitor(gantry, { project: project.id, access_level: 40 });
  const other = await seedVisitor(gantry, { project: project.id, access_level: 20 });
  await reporter.visitor.get(path);
  for (const spend of ['2h', '30m']) await reporter.visitor.post(`${path}/time`, { spend });
  const entriesOf = async ({ visitor }: SeededVisitor): Promise<string[]> => {
    const { text } = await visitor.get(path);
    return [...text.matchAll(/action="([^"]+\/time\/\d+\/delete)"/g)].map(([, action = '']) => action);
  };
  const [half = '', hours = ''] = await entriesOf(reporter);
  assert.deepEqual([await entriesOf(other), (await entriesOf(maintainer)).length], [[], 2]);
  assert.equal((await other.visitor.post(half)).status, 403);
  assert.equal((await guest.visitor.post(half)).status, 403);
  const elsewhere = await fresh();
  assert.equal((await reporter.visitor.post(half.replace(path, elsewhere.path))).status, 404);
  assert.equal((await reporter.visitor.post(half)).location, path);
  assert.equal((await reporter.visitor.post(half)).status, 404);
  assert.equal((await one(iid)).time_stats.total_time_spent, 7200);
  await reporter.visitor.post(`${path}/time`, { spend: '-1h' });
  const refused = await maintainer.visitor.post(hours);
  assert.deepEqual(
    [refused.status, /Later entries subtract the time of this entry/.test(refused.text)],
    [422, true],
  );
  await reporter.visitor.post(`${path}/time`, { spend: `${2 ** 31 - 1 - 3600}s` });
  const [, minusHour = ''] = await entriesOf(maintainer);
  const tooMuch = await maintainer.visitor.post(minusHour);
  assert.deepEqual(
    [tooMuch.status, /The total without this entry is too large/.test(tooMuch.text)],
    [422, true],
  );
  assert.equal((await one(iid)).time_stats.total_time_spent, 2 ** 31 - 1);
  const notes = (await gantry.api(`GET /projects/${project.id}/issues/${iid}/notes`)).body;
  const deleted = notes
    .map(({ body }: { body: string }) => body)
    .filter((body: string) => body.startsWith('deleted'));
  assert.equal(deleted.length, 1);
  assert.match(deleted[0], /^deleted 30m of spent time from \d{4}-\d\d-\d\d$/);
});

test('ticks tasks, unless the description changed', async () => {
  const { path, iid } = await fresh({ description: '- [ ] one\n- [x] two' });
  const { text } = await reporter.visitor.get(path);
  const base = /name="base" value="([^"]+)"/.exec(text)?.[1] ?? '';
  assert.equal(
    (await reporter.visitor.post(`${path}/tasks`, { line: '0', base })).location,
    `${path}#description`,
  );
  assert.equal((await one(iid)).description, '- [x] one\n- [x] two');
  const late = await reporter.visitor.post(`${path}/tasks`, { line: '1', base });
  assert.deepEqual([late.status, /edited this issue meanwhile/.test(late.text)], [422, true]);
  assert.equal((await reporter.visitor.post(`${path}/tasks`, { line: '7', base })).status, 422);
  assert.doesNotMatch((await stranger.visitor.get(path)).text, /data-tasks/);
  assert.equal((await stranger.visitor.post(`${path}/tasks`, { line: '0', base })).status, 403);
});

test('clones an issue, into its project or another, with its comments if asked', async () => {
  const target = await seedProject(gantry, { visibility: 'private' });
  await seedMember(gantry, { user: reporter.id, project: target.id, access_level: 20 });
  const { path, iid } = await fresh({ title: 'To clone' });
  await gantry.api(`POST /projects/${project.id}/issues/${iid}/notes`, { json: { body: 'Said before' } });
  assert.match(
    (await reporter.visitor.get(path)).text,
    new RegExp(`action="${path}/clone"[^]*?value="${project.full_path}"`),
  );
  assert.doesNotMatch((await guest.visitor.get(path)).text, /Clone this issue/);
  const here = await reporter.visitor.post(`${path}/clone`, { to_project: project.full_path });
  assert.match(here.location ?? '', new RegExp(`^${list()}/\\d+$`));
  assert.notEqual(here.location, path);
  const plain = (await reporter.visitor.get(here.location ?? '')).text;
  assert.match(plain, /The issue was cloned\.[^]+To clone/);
  assert.doesNotMatch(plain, /Said before/);
  const sent = { to_project: target.full_path, with_notes: '1' };
  const there = await reporter.visitor.post(`${path}/clone`, sent);
  assert.equal(there.location, `/${target.full_path}/issues/1`);
  assert.match((await reporter.visitor.get(there.location ?? '')).text, /To clone[^]+Said before/);
  for (const to_project of ['no/such', ''])
    assert.equal((await reporter.visitor.post(`${path}/clone`, { to_project })).status, 422, to_project);
  assert.equal((await guest.visitor.post(`${path}/clone`, sent)).status, 403);
});

test('moves an issue to a project that the user sees', async () => {
  const [target, hidden] = [await seedProject(gantry), await seedProject(gantry, { visibility: 'private' })];
  await seedMember(gantry, { user: reporter.id, project: target.id, access_level: 20 });
  const { path } = await fresh({ title: 'To move' });
  assert.match((await reporter.visitor.get(path)).text, /Move to another project/);
  for (const to_project of [hidden.full_path, 'no/such', project.full_path]) {
    assert.equal((await reporter.visitor.post(`${path}/move`, { to_project })).status, 422, to_project);
  }
  const moved = await reporter.visitor.post(`${path}/move`, { to_project: `/${target.full_path}` });
  assert.equal(moved.location, `/${target.full_path}/issues/1`);
  assert.match((await reporter.visitor.get(moved.location ?? '')).text, /The issue was moved[\s\S]+To move/);
  assert.equal((await guest.visitor.post(`${path}/move`, { to_project: target.full_path })).status, 403);
});

test('deletes an issue after a confirmation, for owners only', async () => {
  const { path, iid } = await fresh();
  assert.doesNotMatch((await reporter.visitor.get(path)).text, /Delete this issue/);
  assert.equal((await reporter.visitor.post(`${path}/delete`, { confirmed: '1' })).status, 403);
  assert.match((await owner.visitor.get(path)).text, /Delete this issue/);
  assert.equal((await owner.visitor.post(`${path}/delete`)).status, 422);
  assert.equal((await owner.visitor.post(`${path}/delete`, { confirmed: '1' })).location, list());
  assert.equal((await gantry.api(`GET /projects/${project.id}/issues/${iid}`)).status, 404);
});
