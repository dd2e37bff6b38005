import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SeededProject, seedProject } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
let project: SeededProject;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry);
});
after(async () => await gantry.close());

const render = async (text: string, more: object = {}): Promise<string> => {
  const { status, body } = await gantry.api('POST /markdown', { json: { text, ...more } });
  assert.equal(status, 201);
  return body.html as string;
};

test('renders Markdown, also for callers who are not signed in', async () => {
  assert.equal(await render('Hello *you* :tada:'), '<p dir="auto">Hello <em>you</em> 🎉</p>\n');
  const { status, body } = await gantry.api('POST /markdown', { as: null, json: { text: 'a' } });
  assert.deepEqual({ status, body }, { status: 201, body: { html: '<p dir="auto">a</p>\n' } });
});

test('answers links into the project with the address of the instance', async () => {
  assert.equal(
    await render('[doc](doc/a.md)', { gfm: true, project: project.full_path }),
    `<p dir="auto"><a href="${gantry.url}/${project.full_path}/-/blob/HEAD/doc/a.md">doc</a></p>\n`,
  );
});

test('refuses an unknown project and a missing text', async () => {
  const unknown = await gantry.api('POST /markdown', { json: { text: 'a', project: 'no/where' } });
  assert.deepEqual([unknown.status, unknown.body], [404, { message: '404 Project Not Found' }]);
  assert.equal((await gantry.api('POST /markdown', { json: {} })).status, 400);
});

test('shows a text as it is that would take long to render', async () => {
  assert.match(await render(`*a* ${'b'.repeat(16_380)}`), /<em>a<\/em>/);
  const long = await render(`*a* ${'<b>'.repeat(6000)}`);
  assert.match(long, /<pre>\*a\* &lt;b&gt;/);
  assert.doesNotMatch(long, /<b>/);
});
