/** Tests that forms of properties change only what their user changed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openRequest, seedBranch, seedCoded } from '../../../../../test/support/seed_merge_requests.ts';
import { seedIssue, seedMember, seedUser } from '../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { mergeList } from './merge_concurrent_edits.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let developer: SeededVisitor;
const people: number[] = [];

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  developer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  for (let count = 0; count < 3; count += 1) {
    const { id } = await seedUser(gantry);
    await seedMember(gantry, { user: id, project: project.id, access_level: 30 });
    people.push(id);
  }
});
after(async () => await gantry.close());

/** Returns the fields of the form with a field, as a browser sends them: pairs, checked boxes only. */
const fieldsOf = (text: string, field: string): [string, string][] => {
  const form = text.split('<form').find((part) => part.includes(`name="${field}"`)) ?? '';
  const inputs = form.slice(0, form.indexOf('</form>')).matchAll(/<input [^>]+>/g);
  return [...inputs].flatMap(([input]) => {
    const [, name = ''] = /name="([^"]+)"/.exec(input) ?? [];
    const isOff = input.includes('type="checkbox"') && !input.includes(' checked');
    return name === '' || isOff ? [] : [[name, /value="([^"]*)"/.exec(input)?.[1] ?? ''] as [string, string]];
  });
};

/** Sends pairs: forms repeat names. */
const send = async (path: string, pairs: readonly [string, string][]) => {
  const cookie = [...developer.visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const headers = {
    accept: 'text/html',
    cookie,
    origin: gantry.url,
    'content-type': 'application/x-www-form-urlencoded',
  };
  const body = new URLSearchParams(pairs as [string, string][]).toString();
  const answer = await fetch(gantry.url + path, { method: 'POST', headers, body, redirect: 'manual' });
  return { status: answer.status, text: await answer.text() };
};

test('applies the difference between two lists to a third', () => {
  assert.deepEqual(mergeList(['a', 'b', 'new'], ['a', 'b'], ['a', 'c']), ['a', 'new', 'c']);
  assert.deepEqual(mergeList(['b'], ['a', 'b'], ['a', 'b']), ['b']);
  assert.deepEqual(mergeList<string>([], [], []), []);
});

test('labels and assignees of an issue that others change meanwhile stay', async () => {
  const { iid } = await seedIssue(gantry, { project: project.id });
  const api = `/projects/${project.id}/issues/${iid}`;
  const path = `/${project.full_path}/issues/${iid}`;
  await gantry.api(`PUT ${api}`, { json: { labels: 'a,b', assignee_ids: [people[0]] } });
  const { text } = await developer.visitor.get(path);
  await gantry.api(`PUT ${api}`, { json: { labels: 'a,theirs', assignee_ids: people.slice(0, 2) } });
  const labels = fieldsOf(text, 'labels[]').filter(([name, value]) => name !== 'labels[]' || value !== 'a');
  assert.equal((await send(path, [...labels, ['labels[]', 'mine']])).status, 303);
  const ids = fieldsOf(text, 'assignee_ids[]').filter(([name]) => name !== 'assignee_ids[]');
  assert.equal((await send(path, [...ids, ['assignee_ids[]', String(people[2])]])).status, 303);
  const { body } = await gantry.api(`GET ${api}`);
  assert.deepEqual(body.labels, ['mine', 'theirs']);
  assert.deepEqual(body.assignees.map(({ id }: { id: number }) => id).toSorted(), [people[1], people[2]]);
});

test('a milestone or due date that others change meanwhile is not replaced', async () => {
  const { iid } = await seedIssue(gantry, { project: project.id });
  const api = `/projects/${project.id}/issues/${iid}`;
  const path = `/${project.full_path}/issues/${iid}`;
  const milestone = async (title: string): Promise<number> =>
    (await gantry.api(`POST /projects/${project.id}/milestones`, { json: { title } })).body.id;
  const [mine, theirs] = [await milestone('Mine'), await milestone('Theirs')];
  const { text } = await developer.visitor.get(path);
  await gantry.api(`PUT ${api}`, { json: { milestone_id: theirs, due_date: '2031-02-03' } });
  const chosen: [string, string] = ['milestone_id', String(mine)];
  const token = fieldsOf(text, 'shown_milestone_id');
  const late = await send(path, [...token, chosen]);
  assert.deepEqual([late.status, /set the milestone to Theirs meanwhile/.test(late.text)], [422, true]);
  const due = fieldsOf(text, 'shown_due_date').filter(([name]) => name !== 'due_date');
  const lateDue = await send(path, [...due, ['due_date', '2030-01-01']]);
  assert.match(lateDue.text, /set the due date to 2031-02-03 meanwhile/);
  const { body } = await gantry.api(`GET ${api}`);
  assert.deepEqual([body.milestone.title, body.due_date], ['Theirs', '2031-02-03']);
  assert.equal((await send(path, [...fieldsOf(late.text, 'shown_milestone_id'), chosen])).status, 303);
  assert.equal((await gantry.api(`GET ${api}`)).body.milestone.title, 'Mine');
});

test('reviewers of a merge request that others change meanwhile stay', async () => {
  await seedBranch(gantry, project, 'topic');
  const { iid } = await openRequest(gantry, project, 'topic');
  const api = `/projects/${project.id}/merge_requests/${iid}`;
  const path = `/${project.full_path}/merge_requests/${iid}`;
  await gantry.api(`PUT ${api}`, { json: { reviewer_ids: [people[0]] } });
  const { text } = await developer.visitor.get(path);
  await gantry.api(`PUT ${api}`, { json: { reviewer_ids: people.slice(0, 2) } });
  const sent = fieldsOf(text, 'reviewer_ids[]').filter(([name]) => name !== 'reviewer_ids[]');
  assert.equal((await send(path, [...sent, ['reviewer_ids[]', String(people[2])]])).status, 303);
  const { body } = await gantry.api(`GET ${api}`);
  assert.deepEqual(body.reviewers.map(({ id }: { id: number }) => id).toSorted(), [people[1], people[2]]);
});
