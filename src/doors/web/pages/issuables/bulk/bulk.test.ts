/** Tests the form that changes several records of a list. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type SeededGroup,
  type SeededProject,
  seedGroup,
  seedMember,
  seedMergeRequest,
  seedProject,
} from '../../../../../../test/support/seed.ts';
import { seedCoded } from '../../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';

let gantry: TestService;
let group: SeededGroup;
let project: SeededProject;
let other: SeededProject;
let reporter: SeededVisitor;

const create = async ({ id }: SeededProject, json: object = {}): Promise<string> => {
  const { status, body } = await gantry.api(`POST /projects/${id}/issues`, { json: { title: 'x', ...json } });
  assert.equal(status, 201);
  return `${id}-${body.iid}`;
};

const read = async (item: string) => {
  const [id, iid] = item.split('-');
  return (await gantry.api(`GET /projects/${id}/issues/${iid}`)).body;
};

/** Submits the form, and returns what the next page says. */
const submit = async (
  { visitor }: SeededVisitor,
  items: string[],
  form: Record<string, string>,
  segment = 'issues',
) => {
  const back = `/dashboard/${segment}?state=all`;
  const rows = Object.fromEntries(items.map((item, at) => [`items[${at}]`, item]));
  const sent = await visitor.post(`/-/${segment}/bulk_update`, { ...rows, back, ...form });
  assert.deepEqual([sent.status, sent.location], [303, back], sent.text);
  const { text } = await visitor.get(back);
  return /class="flash (?:notice|alert)" role="(?:status|alert)">([^<]*)</.exec(text)?.[1] ?? '';
};

before(async () => {
  gantry = await startTestService();
  group = await seedGroup(gantry);
  project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  other = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
});
after(async () => await gantry.close());

test('changes the selected issues of several projects, and says how many', async () => {
  await seedMember(gantry, { user: reporter.id, project: other.id, access_level: 20 });
  const milestone = await gantry.api(`POST /groups/${group.id}/milestones`, {
    json: { title: 'First half' },
  });
  const items = [await create(project, { labels: 'bug,late' }), await create(other, { labels: 'late' })];
  const untouched = await create(project, { labels: 'late' });
  const said = await submit(reporter, items, {
    state_event: 'close',
    add_labels: 'ready, for review',
    remove_labels: 'late',
    assignee: `@${reporter.username}`,
    milestone: 'First half',
    subscription: 'subscribe',
  });
  assert.equal(said, '2 issues changed.');
  const issues = [await read(items[0] ?? ''), await read(items[1] ?? '')];
  assert.deepEqual(
    issues.map((one) => [one.state, one.labels, one.assignee.username, one.milestone.id]),
    [
      ['closed', ['bug', 'for review', 'ready'], reporter.username, milestone.body.id],
      ['closed', ['for review', 'ready'], reporter.username, milestone.body.id],
    ],
  );
  const { state, labels } = await read(untouched);
  assert.deepEqual([state, labels], ['opened', ['late']]);
  assert.equal(
    await submit(reporter, items, { state_event: 'close', assignee: 'me' }),
    '0 issues changed. 2 issues had nothing to change.',
  );
  await submit(reporter, items, { assignee: 'none', milestone: 'none' });
  const cleared = await read(items[1] ?? '');
  assert.deepEqual([cleared.assignee, cleared.milestone], [null, null]);
});

test('changes due date, confidentiality and the lock of discussions', async () => {
  const item = await create(project);
  const change = async (form: Record<string, string>) => await submit(reporter, [item], form);
  const facts = async () => {
    const { due_date, confidential, discussion_locked } = await read(item);
    return [due_date, confidential, discussion_locked];
  };
  const all = { due_date: '2031-02-03', confidential: 'true', discussion_locked: 'true' };
  assert.equal(await change(all), '1 issue changed.');
  assert.deepEqual(await facts(), ['2031-02-03', true, true]);
  assert.equal(await change(all), '0 issues changed. 1 issue had nothing to change.');
  await change({ due_date: 'none', confidential: 'false', discussion_locked: 'false' });
  assert.deepEqual(await facts(), [null, false, false]);
  for (const due_date of ['tomorrow', '2031-02-03x', '2031-13-01', '2031-02-31'])
    assert.match(await change({ due_date }), /^Nothing changed: .*is not a date \(example: 2031-02-03\)/);
  const guest = await seedVisitor(gantry, { project: project.id, access_level: 10 });
  for (const form of [{ due_date: '2031-02-03' }, { confidential: 'true' }, { discussion_locked: 'true' }])
    assert.match(await submit(guest, [item], form), /1 not changed: .*you may not change it/);
  assert.deepEqual(await facts(), [null, false, false]);
});

test('changes what the user may change, and names what it did not', async () => {
  const guest = await seedVisitor(gantry, { project: project.id, access_level: 10 });
  const own = await gantry.api(`POST /projects/${project.id}/issues`, {
    headers: { sudo: guest.username },
    json: { title: 'Of the guest' },
  });
  const [mine, theirs] = [`${project.id}-${own.body.iid}`, await create(project)];
  const hidden = await create(other, { confidential: true });
  const said = await submit(guest, [mine, theirs, hidden, 'x', mine], { state_event: 'close' });
  assert.equal(
    said,
    `1 issue changed. 3 not changed: ${project.full_path}#${theirs.split('-')[1]}: you may not change it; one issue: it was not found; one issue: it was not found.`,
  );
  assert.deepEqual(
    [(await read(mine)).state, (await read(theirs)).state, (await read(hidden)).state],
    ['closed', 'opened', 'opened'],
  );
  assert.match(await submit(guest, [mine], { add_labels: 'x' }), /^0 issues changed\. 1 not changed/);
  assert.equal(await submit(guest, [theirs], { subscription: 'subscribe' }), '1 issue changed.');
  const none = await submit(reporter, [theirs], { milestone: 'Not there' });
  assert.match(none, /has no open milestone of this title/);
  assert.match(
    await submit(reporter, [theirs], { assignee: 'nobody-here' }),
    /^Nothing changed: .*does not exist/,
  );
});

test('asks for a selection and a change, and leads only to own pages', async () => {
  const item = await create(project);
  assert.equal(await submit(reporter, [], { state_event: 'close' }), 'Select at least one issue.');
  assert.equal(await submit(reporter, [item], {}), 'Choose what to change.');
  const away = await reporter.visitor.post('/-/issues/bulk_update', {
    'items[]': item,
    back: '//example.com/',
    add_labels: 'x',
  });
  assert.equal(away.location, '/');
  const wrong = await reporter.visitor.post('/-/issues/bulk_update', {
    'items[]': item,
    state_event: 'burn',
  });
  assert.equal(wrong.status, 303);
  assert.match((await reporter.visitor.get(wrong.location ?? '')).text, /Nothing changed: state event /);
  const forged = await reporter.visitor.post('/-/issues/bulk_update', {
    'items[]': item,
    state_event: 'close',
    authenticity_token: 'x',
  });
  assert.equal(forged.status, 422);
  assert.equal((await read(item)).state, 'opened');
});

test('offers the form on lists of projects, groups and own work to users, not to anonymous visitors', async () => {
  const open = await seedProject(gantry, { visibility: 'public' });
  const item = await create(open, { assignee_ids: [reporter.id], title: 'To <select>' });
  for (const path of [`/${open.full_path}/issues`, '/dashboard/issues']) {
    const { text } = await reporter.visitor.get(path);
    assert.match(
      text,
      new RegExp(`name="items\\[\\]" value="${item}" form="bulk" aria-label="Select [^"]+ To &lt;select`),
    );
    assert.match(text, /action="\/-\/issues\/bulk_update" id="bulk"/);
  }
  const anonymous = await fetch(`${gantry.url}/${open.full_path}/issues`, {
    headers: { accept: 'text/html' },
  });
  assert.doesNotMatch(await anonymous.text(), /items\[\]|bulk_update/);
});

test('changes merge requests', async () => {
  const code = await seedCoded(gantry, { visibility: 'private' });
  const developer = await seedVisitor(gantry, { project: code.id, access_level: 30 });
  const requests = [
    await seedMergeRequest(gantry, { project: code.id }),
    await seedMergeRequest(gantry, { project: code.id }),
  ];
  const items = requests.map(({ iid }) => `${code.id}-${iid}`);
  const list = await developer.visitor.get(`/${code.full_path}/merge_requests`);
  for (const item of items) assert.ok(list.text.includes(`value="${item}" form="bulk"`), item);
  const form = { state_event: 'close', add_labels: 'done', assignee: 'me', reviewer: developer.username };
  assert.equal(await submit(developer, items, form, 'merge_requests'), '2 merge requests changed.');
  const stranger = await seedVisitor(gantry);
  assert.match(
    await submit(developer, items.slice(0, 1), { reviewer: stranger.username }, 'merge_requests'),
    /this user cannot be a reviewer/,
  );
  assert.match(list.text, /name="reviewer"/);
  assert.doesNotMatch(list.text, /id="bulk_due_date"/);
  const { body } = await gantry.api(`GET /projects/${code.id}/merge_requests?state=closed`);
  assert.deepEqual(
    body.map((one: { labels: string[]; assignee: { id: number }; reviewers: { id: number }[] }) => [
      one.labels,
      one.assignee.id,
      one.reviewers.map(({ id }) => id),
    ]),
    [
      [['done'], developer.id, [developer.id]],
      [['done'], developer.id, [developer.id]],
    ],
  );
});
