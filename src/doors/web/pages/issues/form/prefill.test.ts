/** Tests what an address fills into the form for a new issue. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import { type SeededProject, seedProject } from '../../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';

let gantry: TestService;
let project: SeededProject;
let reporter: SeededVisitor;
let guest: SeededVisitor;
let path: string;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  path = `/${project.full_path}/issues/new`;
  reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
  guest = await seedVisitor(gantry, { project: project.id, access_level: 10 });
  await seedCommit(gantry, project.id, { '.gitlab/issue_templates/Bug.md': 'Steps\n' });
});
after(async () => await gantry.close());

const create = async (noun: 'milestones' | 'labels', owner: number, json: object): Promise<number> => {
  const { status, body, text } = await gantry.api(`POST /projects/${owner}/${noun}`, { json });
  assert.equal(status, 201, text);
  return body.id;
};

const assigneesIn = (text: string): number[] =>
  [...text.matchAll(/name="assignee_ids\[\]" value="(\d+)" checked/g)]
    .map(([, id]) => Number(id))
    .toSorted((a, b) => a - b);

const labelsIn = (text: string): string | undefined =>
  /<input[^>]* name="labels"[^>]* value="([^"]*)"/.exec(text)?.[1];

test('fills milestone, assignees and labels, and keeps them when a template is chosen', async () => {
  const milestone = await create('milestones', project.id, { title: 'Soon' });
  const label = await create('labels', project.id, { name: 'kept', color: '#112233' });
  const assignees = `issue[assignee_ids][]=${reporter.id}&issue[assignee_ids][]=${guest.id}`;
  const query = `issue[milestone_id]=${milestone}&${assignees}&issue[label_ids][]=${label}&issue[labels]=fresh`;
  const { status, text } = await reporter.visitor.get(`${path}?${query}`);
  assert.equal(status, 200);
  assert.match(text, new RegExp(`<option value="${milestone}" selected>Soon</option>`));
  assert.deepEqual(assigneesIn(text), [reporter.id, guest.id]);
  assert.equal(labelsIn(text), 'fresh, kept');
  const shown = {
    milestone_id: String(milestone),
    'assignee_ids[]': [reporter.id, guest.id].join(','),
    labels: 'fresh, kept',
  };
  const chosen = (await reporter.visitor.post(path, { ...shown, issuable_template: 'Bug' })).text;
  assert.match(chosen, /Steps\n<\/textarea>/);
  assert.match(chosen, new RegExp(`<option value="${milestone}" selected>`));
  assert.deepEqual([assigneesIn(chosen), labelsIn(chosen)], [[reporter.id, guest.id], 'fresh, kept']);
  const one = (await reporter.visitor.get(`${path}?issue[assignee_id]=${guest.id}`)).text;
  assert.deepEqual(assigneesIn(one), [guest.id]);
});

test('fills a milestone and labels beyond those that the form offers', async () => {
  const crowded = await seedProject(gantry, { visibility: 'private' });
  const { visitor } = await seedVisitor(gantry, { project: crowded.id, access_level: 20 });
  const milestone = await create('milestones', crowded.id, { title: 'First' });
  const label = await create('labels', crowded.id, { name: 'zz last', color: '#112233' });
  for (let at = 1; at <= 100; at += 1) {
    await create('milestones', crowded.id, { title: `m${at}` });
    await create('labels', crowded.id, { name: `l${at}`, color: '#112233' });
  }
  const query = `issue[milestone_id]=${milestone}&issue[label_ids][]=${label}`;
  const { text } = await visitor.get(`/${crowded.full_path}/issues/new?${query}`);
  assert.match(text, new RegExp(`<option value="${milestone}" selected>First</option>`));
  assert.equal(labelsIn(text), 'zz last');
});

test('shows nothing of hidden projects, and takes any values', async () => {
  const hidden = await seedProject(gantry, { visibility: 'private' });
  const milestone = await create('milestones', hidden.id, { title: 'Secret plan' });
  const label = await create('labels', hidden.id, { name: 'secret-label', color: '#112233' });
  const { text } = await reporter.visitor.get(
    `${path}?issue[milestone_id]=${milestone}&issue[label_ids][]=${label}`,
  );
  assert.doesNotMatch(text, /Secret plan|secret-label/);
  assert.equal(labelsIn(text), '');
  for (const odd of [
    'issue[milestone_id][a]=b',
    'issue[milestone_id]=-1',
    'issue[assignee_ids][]=x&issue[assignee_ids][]=9007199254740991',
    'issue[label_ids][a][b]=1&issue[labels][]=%3Cb%3E',
    'issue=1',
  ]) {
    assert.equal((await reporter.visitor.get(`${path}?${odd}`)).status, 200, odd);
  }
  const plain = await guest.visitor.get(
    `${path}?issue[milestone_id]=${milestone}&issue[assignee_id]=${guest.id}`,
  );
  assert.deepEqual([plain.status, /name="milestone_id"|name="assignee_ids/.test(plain.text)], [200, false]);
});
