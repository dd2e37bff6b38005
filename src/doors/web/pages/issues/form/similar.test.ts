/** Tests the issues that the form for a new one shows because they are like it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SeededProject, seedIssue, seedProject } from '../../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: SeededProject;
let reporter: SeededVisitor;
let guest: SeededVisitor;
let path: string;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  path = `/${project.full_path}/issues`;
  reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
  guest = await seedVisitor(gantry, { project: project.id, access_level: 10 });
  await seedIssue(gantry, { project: project.id, title: 'Login button breaks on Safari' });
  await seedIssue(gantry, { project: project.id, title: 'Old login button', state: 'closed' });
  await seedIssue(gantry, { project: project.id, title: 'Login secret', confidential: 1 });
  const other = await seedProject(gantry, { visibility: 'public' });
  await seedIssue(gantry, { project: other.id, title: 'Login button elsewhere' });
});
after(async () => await gantry.close());

/** Returns the titles of the similar issues on a page, with their states. */
const similarIn = (text: string): string[] => {
  const [, part = ''] = /<div id="similar_issues"[^>]*>([^]*?)<\/div>/.exec(text) ?? [];
  return [...part.matchAll(/<\/svg> (\w+)<\/span> <a [^>]+>#\d+ ([^<]+)/g)].map(
    ([, state, title]) => `${title}: ${state}`,
  );
};

const similarTo = async (title: string, { visitor } = reporter): Promise<string[]> => {
  const { status, text } = await visitor.get(`${path}/similar?title=${encodeURIComponent(title)}`);
  assert.equal(status, 200);
  return similarIn(text);
};

test('finds open and closed issues of the project that share words of the title', async () => {
  assert.deepEqual(
    new Set(await similarTo('The login button is broken')),
    new Set(['Login button breaks on Safari: Open', 'Old login button: Closed']),
  );
  assert.deepEqual(await similarTo('login secret'), ['Login secret: Open']);
  assert.deepEqual(await similarTo('Nothing "like" this'), []);
  assert.deepEqual(await similarTo(' '), []);
});

test('looks at the start of a very long title only', async () => {
  const title = 'x'.repeat(60_000);
  const refused = await reporter.visitor.post(path, { title, description: 'Typed for long' });
  assert.equal(refused.status, 422);
  assert.ok(refused.text.includes(title) && refused.text.includes('Typed for long'));
});

test('shows at most five similar issues', async () => {
  const many = await seedProject(gantry, { visibility: 'private' });
  const { visitor } = await seedVisitor(gantry, { project: many.id, access_level: 20 });
  for (let at = 1; at <= 7; at += 1) await seedIssue(gantry, { project: many.id, title: `Alike ${at}` });
  const { text } = await visitor.get(`/${many.full_path}/issues/similar?title=alike`);
  assert.equal(similarIn(text).length, 5);
});

test('shows no issue that the viewer does not see', async () => {
  assert.deepEqual(await similarTo('login secret', guest), []);
  const stranger = await seedVisitor(gantry);
  const [hidden, missing] = [
    await stranger.visitor.get(`${path}/similar?title=login`),
    await stranger.visitor.get('/no/such/issues/similar?title=login'),
  ];
  assert.deepEqual([hidden.status, missing.status], [404, 404]);
  assert.match((await openVisitor(gantry).get(`${path}/similar?title=login`)).location ?? '', /sign_in/);
});

test('without scripts, a form that is shown again has them', async () => {
  const { visitor } = reporter;
  assert.deepEqual(similarIn((await visitor.get(`${path}/new`)).text), []);
  assert.deepEqual(similarIn((await visitor.get(`${path}/new?title=login%20secret`)).text), [
    'Login secret: Open',
  ]);
  const refused = await visitor.post(path, { title: 'Login secret', assignee_username: 'nobody-here' });
  assert.equal(refused.status, 422);
  assert.deepEqual(similarIn(refused.text), ['Login secret: Open']);
  const chosen = await visitor.post(`${path}/new`, { title: 'Login secret' });
  assert.deepEqual(similarIn(chosen.text), ['Login secret: Open']);
});
