/** Tests linked issues on the page of an issue. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SeededProject, seedMember, seedProject } from '../../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';

let gantry: TestService;
let project: SeededProject;
let other: SeededProject;
let reporter: SeededVisitor;
let page: string;

const create = async ({ id }: SeededProject, title: string): Promise<number> => {
  const { status, body } = await gantry.api(`POST /projects/${id}/issues`, { json: { title } });
  assert.equal(status, 201);
  return body.iid;
};

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'public' });
  other = await seedProject(gantry, { visibility: 'private' });
  reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
  await seedMember(gantry, { user: reporter.id, project: other.id, access_level: 20 });
  for (const title of ['Here', 'Next', 'Third', 'Fourth']) await create(project, title);
  await create(other, 'Secret plan');
  page = `/${project.full_path}/issues/1`;
});
after(async () => await gantry.close());

const link = async (reference: string, relation = 'relates_to', { visitor } = reporter) => {
  await visitor.get(page);
  return await visitor.post(`${page}/links`, { reference, relation });
};

const section = (text: string): string => /<h2>Linked issues<\/h2>[\s\S]*?<\/section>/.exec(text)?.[0] ?? '';

test('links issues of this and other projects, and shows their state', async () => {
  assert.equal((await link('#2', 'blocks')).status, 303);
  assert.equal((await link(`${gantry.url}/${project.full_path}/-/issues/3#note_1`)).status, 303);
  assert.equal((await link(`${other.full_path}#1`, 'is_blocked_by')).status, 303);
  await gantry.api(`PUT /projects/${project.id}/issues/2`, { json: { state_event: 'close' } });
  const shown = section((await reporter.visitor.get(page)).text);
  assert.match(
    shown,
    /Blocked by<\/h3>[\s\S]*Secret plan[\s\S]*Blocks<\/h3>[\s\S]*aria-label="Closed"[\s\S]*#2 Next[\s\S]*Related<\/h3>[\s\S]*#3 Third/,
  );
  const back = section((await reporter.visitor.get(`/${project.full_path}/issues/2`)).text);
  assert.match(back, /Blocked by<\/h3>[\s\S]*#1 Here/);
  const { body } = await gantry.api(`GET /projects/${project.id}/issues/1/links`);
  assert.deepEqual(
    body.map((one: { link_type: string }) => one.link_type),
    ['blocks', 'relates_to', 'is_blocked_by'],
  );
});

test('does not show linked issues that are hidden from the viewer', async () => {
  const guest = await seedVisitor(gantry, { project: project.id, access_level: 10 });
  const { text } = await guest.visitor.get(page);
  assert.match(section(text), /#3 Third/);
  assert.doesNotMatch(text, /Secret plan|Blocked by/);
  assert.doesNotMatch(section(text), /Unlink|reference/);
  assert.equal((await link('#4', 'blocks', guest)).status, 403);
  const hidden = await link(`${other.full_path}#1`, 'blocks', guest);
  assert.equal(hidden.status, 403);
});

test('says what is wrong with a reference, and removes a link', async () => {
  for (const [reference, said] of [
    ['#99', 'Issue does not exist'],
    ['nothing', 'Issue does not exist'],
    ['no/where#1', 'Issue does not exist'],
    ['1', 'cannot be linked with itself'],
    ['#3', 'already assigned'],
  ] as const) {
    const { status, text } = await link(reference);
    assert.equal(status, 422, reference);
    assert.match(text, new RegExp(said, 'i'), reference);
  }
  const { body } = await gantry.api(`GET /projects/${project.id}/issues/1/links`);
  const [, related] = body as { issue_link_id: number }[];
  const gone = await reporter.visitor.post(`${page}/links/${related?.issue_link_id}/delete`);
  assert.equal(gone.status, 303);
  assert.doesNotMatch(section((await reporter.visitor.get(page)).text), /#3 Third/);
  assert.equal((await reporter.visitor.post(`${page}/links/999999/delete`)).status, 404);
});
