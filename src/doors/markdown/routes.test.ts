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

test('renders long texts and code in a worker thread', async () => {
  assert.match(await render(`*a* ${'b'.repeat(100_000)}`), /<em>a<\/em>/);
  assert.match(await render('```js\nlet a;\n```'), /<span class="hljs-keyword">let<\/span>/);
});

test('shows a text as it is that takes too long to render', async () => {
  const slow = await render('|a|b|\n|-|-|\n|1|2|\n\n'.repeat(45_000));
  assert.match(slow, /takes too long to render.*<pre>\|a\|b\|/s);
  assert.match(await render(`*a* ${'c'.repeat(10_000)}`), /<em>a<\/em>/);
});

test('completes the short rows of a table as long as its text pays for them', async () => {
  const head = `${'|a'.repeat(200)}\n${'|-'.repeat(200)}\n`;
  assert.equal((await render(`${head}|b\n`)).match(/<td>/g)?.length, 200);
  const table = `${head}${'|\n'.repeat(200)}`;
  const text = `${table}\n${table}`;
  const long = await render(text);
  assert.ok(long.length < 20 * text.length, `${long.length}`);
  assert.equal((await render(`|a|b|\n|-|-|\n${'|1|2|\n'.repeat(500)}`)).match(/<td>/g)?.length, 1_000);
});

test('shows formulas as MathML, and what is none as it was written', async () => {
  const html = await render('A $`a^2`$.\n\n$$\n\\frac{1}{2}\n$$\n\n```math\n\\href{javascript:a}{b}\n```');
  assert.match(html, /A <math><msup><mi>a<\/mi><mn>2<\/mn><\/msup><\/math>\./);
  assert.match(html, /<math display="block"><mfrac><mn>1<\/mn><mn>2<\/mn><\/mfrac><\/math>/);
  assert.match(html, /<code class="language-math">\\href\{javascript:a\}/);
});

test('shows diagrams as images of the diagram server, which pages admit as long as it is enabled', async () => {
  const change = async (json: object): Promise<void> => {
    assert.equal((await gantry.api('PUT /application/settings', { json })).status, 200);
  };
  const readPolicy = async (): Promise<string> =>
    (await fetch(`${gantry.url}/users/sign_in`)).headers.get('content-security-policy') ?? '';
  const diagram = '```plantuml\nA -> B\n```';
  assert.match(await render(diagram), /<code class="language-plantuml">/);
  assert.match(await readPolicy(), /; img-src 'self';/);
  await change({ diagram_enabled: true, diagram_url: 'https://diagrams.example.com/kroki' });
  assert.match(
    await render(diagram),
    /<img src="https:\/\/diagrams\.example\.com\/kroki\/plantuml\/svg\/[\w-]+"/,
  );
  assert.match(await readPolicy(), /; img-src 'self' https:\/\/diagrams\.example\.com;/);
  await change({ diagram_enabled: false });
  assert.match(await render(diagram), /<code class="language-plantuml">/);
  assert.match(await readPolicy(), /; img-src 'self';/);
});
