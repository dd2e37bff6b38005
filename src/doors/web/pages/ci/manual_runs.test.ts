/** Tests pipelines run manually, jobs started with variables, job lists, and search in logs. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedTrace } from '../../../../../test/support/ci/artifacts.ts';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedPipeline, setJob } from '../../../../../test/support/ci/jobs.ts';
import { settle } from '../../../../../test/support/seed_merge_requests.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor } from '../../../../../test/support/visitor.ts';
import { unsealValue } from '../../../../ci/variables/queries.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let developer: Visitor;
let reporter: Visitor;
let base: string;

const someone = async (level: number): Promise<Visitor> =>
  (await seedVisitor(gantry, { project: project.id, access_level: level })).visitor;

const config = `
variables:
  PLAIN: not asked for
  TARGET: { value: staging, description: "Where <to>", options: [staging, production] }
  NOTE: { value: "", description: What it is for }
one: { script: x }
hand: { script: x, when: manual }
`;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  base = `/${project.full_path}/-`;
  [developer, reporter] = [await someone(30), await someone(20)];
  await seedCommit(gantry, project.id, { '.gitlab-ci.yml': config });
  // Developers cannot run pipelines on the default branch, which is protected.
  await seedCommit(gantry, project.id, { '.gitlab-ci.yml': config }, { branch: 'topic' });
  await seedCommit(gantry, project.id, { '.gitlab-ci.yml': 'one: [' }, { branch: 'broken', from: 'main' });
  await settle(gantry);
});
after(async () => await gantry.close());

const api = async (line: string) => await gantry.api(line.replace(' ', ` /projects/${project.id}/`));
const variableRowsOf = async (id: number): Promise<[string, string, string][]> =>
  (await api(`GET pipelines/${id}/variables`)).body.map(
    (one: { key: string; value: string; variable_type: string }) => [one.key, one.value, one.variable_type],
  );
const idIn = (location: string | null): number => Number(/\d+$/.exec(location ?? '')?.[0]);

test('shows the variables that the configuration of a branch declares', async () => {
  const { status, text } = await developer.get(`${base}/pipelines/new?ref=topic`);
  assert.equal(status, 200);
  assert.match(
    text,
    /name="variables\[0\]\[key\]" value="TARGET">[\s\S]+Where &lt;to&gt;[\s\S]+<select[^>]+name="variables\[0\]\[value\]"[^>]*><option value="staging" selected>staging<\/option><option value="production">/,
  );
  assert.match(text, /name="variables\[1\]\[key\]" value="NOTE">[\s\S]+What it is for/);
  assert.doesNotMatch(text, /PLAIN/);
  assert.match((await developer.get(`${base}/pipelines`)).text, new RegExp(`href="${base}/pipelines/new"`));
  const broken = await developer.get(`${base}/pipelines/new?ref=broken`);
  assert.deepEqual([broken.status, /class="flash alert"/.test(broken.text)], [200, true]);
  assert.match((await developer.get(`${base}/pipelines/new?ref=no<where`)).text, /Reference not found/);
});

test('runs a pipeline with the submitted variables', async () => {
  await developer.get(`${base}/pipelines/new?ref=topic`);
  const { status, location } = await developer.post(`${base}/pipelines`, {
    ref: 'topic',
    'variables[0][key]': 'TARGET',
    'variables[0][value]': 'production',
    'variables[1][key]': 'NOTE',
    'variables[1][value]': 'two\r\nlines',
    'variables[2][variable_type]': 'file',
    'variables[2][key]': ' EXTRA ',
    'variables[2][value]': 'content',
    'variables[3][variable_type]': 'env_var',
    'variables[3][key]': '',
    'variables[3][value]': '',
  });
  assert.equal(status, 303);
  assert.deepEqual(await variableRowsOf(idIn(location)), [
    ['EXTRA', 'content', 'file'],
    ['NOTE', 'two\nlines', 'env_var'],
    ['TARGET', 'production', 'env_var'],
  ]);
});

test('takes variables from a link, and keeps input when adding rows', async () => {
  const proposed = await developer.get(
    `${base}/pipelines/new?ref=topic&var[TARGET]=production&var[OTHER]=x%3C&var[TARGET2]=y&file_var[CERT]=pem`,
  );
  assert.match(proposed.text, /<option value="production" selected>/);
  assert.match(proposed.text, /value="OTHER"[\s\S]+>\nx&lt;<\/textarea>/);
  assert.match(proposed.text, /<option value="file" selected>[\s\S]+value="CERT"/);
  const outside = await developer.get(`${base}/pipelines/new?ref=topic&var[TARGET]=elsewhere`);
  assert.match(outside.text, /<option value="staging" selected>/);
  const rows = Object.fromEntries(
    Array.from({ length: 5 }, (_one, at) => [`variables[${at}][key]`, `NAME_${at}`]),
  );
  const before = (await api('GET pipelines')).body.length;
  const more = await developer.post(`${base}/pipelines`, { ref: 'topic', ...rows, more: '1' });
  assert.equal(more.status, 200);
  assert.match(more.text, /value="NAME_4"[\s\S]+name="variables\[9\]\[key\]"/);
  assert.equal((await api('GET pipelines')).body.length, before);
});

test('shows problems of a pipeline above the input', async () => {
  await developer.get(`${base}/pipelines/new`);
  for (const [form, said] of [
    [{ ref: 'nowhere' }, /role="alert">Reference not found/],
    [
      { ref: 'topic', 'variables[0][key]': 'a-b', 'variables[0][value]': 'v' },
      /a-b: can contain only letters/,
    ],
    [{ ref: 'topic', 'variables[0][key]': '', 'variables[0][value]': 'v' }, /key is missing/],
    [{ ref: 'broken' }, /role="alert">[^<]+/],
  ] as const) {
    const { status, text } = await developer.post(`${base}/pipelines`, form);
    assert.equal(status, 422);
    assert.match(text, said);
    if ('variables[0][key]' in form) assert.match(text, />\nv<\/textarea>/);
  }
  assert.equal((await reporter.get(`${base}/pipelines/new`)).status, 403);
});

const manual = async (): Promise<number> =>
  (await seedPipeline(gantry, { project: project.id, file: config, ref: 'topic' })).jobs['hand'] ?? 0;

const jobVariables = async (id: number) => {
  const rows = await gantry.service.platform.store.db
    .selectFrom('job_variables')
    .select(['key', 'sealed_value'])
    .where('job_id', '=', id)
    .orderBy('key')
    .execute();
  return rows.map((row) => [row.key, unsealValue(gantry.service.platform, row.sealed_value)]);
};

test('starts a manual job with variables', async () => {
  const id = await manual();
  const { text } = await developer.get(`${base}/jobs/${id}`);
  assert.match(text, /Run with variables/);
  assert.doesNotMatch((await reporter.get(`${base}/jobs/${id}`)).text, /Run with variables/);
  await developer.get(`${base}/jobs/${id}`);
  const name = 'job_variables_attributes';
  const bad = await developer.post(`${base}/jobs/${id}/play`, {
    [`${name}[0][key]`]: 'a b',
    [`${name}[0][value]`]: 'v<',
  });
  assert.equal(bad.status, 422);
  assert.match(bad.text, /<details open>[\s\S]+key is invalid[\s\S]+value="a b"[\s\S]+v&lt;/);
  assert.equal((await api(`GET jobs/${id}`)).body.status, 'manual');
  const { status } = await developer.post(`${base}/jobs/${id}/play`, {
    [`${name}[0][key]`]: 'WHERE',
    [`${name}[0][value]`]: 'here\r\nand there',
    [`${name}[1][key]`]: '',
    [`${name}[1][value]`]: '',
  });
  assert.equal(status, 303);
  assert.equal((await api(`GET jobs/${id}`)).body.status, 'pending');
  assert.deepEqual(await jobVariables(id), [['WHERE', 'here\nand there']]);
});

test("starts and cancels a trigger job from its pipeline's page", async () => {
  const file =
    'one: { script: x }\nother: { trigger: { project: no/such }, when: manual, allow_failure: false }';
  const { id, jobs } = await seedPipeline(gantry, { project: project.id, file, ref: 'topic' });
  const bridge = jobs['other'] ?? 0;
  const { text } = await developer.get(`${base}/pipelines/${id}`);
  assert.doesNotMatch(text, new RegExp(`href="${base}/jobs/${bridge}"`));
  await setJob(gantry, bridge, { status: 'manual' });
  assert.match((await developer.get(`${base}/pipelines/${id}`)).text, /aria-label="Start other"/);
  const { status, location } = await developer.post(`${base}/jobs/${bridge}/cancel`);
  assert.deepEqual([status, location], [303, `${base}/pipelines/${id}`]);
});

test('lists jobs by status and page, newest first', async () => {
  const { jobs } = await seedPipeline(gantry, {
    project: project.id,
    file: 'esc<ape: { script: x }\nb: { script: x }',
  });
  const [first = 0, second = 0] = [jobs['esc<ape'], jobs['b']];
  await setJob(gantry, second, { status: 'failed', started_at: 1_000, finished_at: 62_000 });
  const all = (await developer.get(`${base}/jobs`)).text;
  assert.match(all, new RegExp(`href="${base}/jobs/${first}">#${first} esc&lt;ape</a>`));
  assert.ok(all.indexOf(`jobs/${second}"`) < all.indexOf(`jobs/${first}"`));
  const failed = (await developer.get(`${base}/jobs?scope=failed`)).text;
  assert.ok(failed.includes(`jobs/${second}"`) && !failed.includes(`jobs/${first}"`));
  assert.match(failed, /1 min 1 s/);
  assert.match(
    (await developer.get(`${base}/jobs?per_page=1&scope=pending`)).text,
    /scope=pending&amp;page=2&amp;per_page=1">Next/,
  );
  assert.equal((await developer.get(`${base}/jobs?scope=odd`)).status, 400);
  assert.equal((await reporter.get(`${base}/jobs`)).status, 200);
});

const printed = async (log: string): Promise<string> => {
  const { jobs } = await seedPipeline(gantry, { project: project.id, file: 'one: { script: x }' });
  const id = jobs['one'] ?? 0;
  await seedTrace(gantry, { id, project_id: project.id }, log);
  await setJob(gantry, id, { status: 'success', started_at: 1_000, finished_at: 2_000 });
  return `${base}/jobs/${id}`;
};

const linesIn = (text: string): number[] =>
  [...text.matchAll(/aria-label="Line (\d+)"/g)].map(([, line]) => Number(line));

test('finds lines in a log, and links to them', async () => {
  const path = await printed(
    'first\n\x1b[31mERR\x1b[0mor: <b>\nsection_start:1:s\r\x1b[0Kan error\nlast, no end: ERROR',
  );
  const { text } = await reporter.get(`${path}?search=error`);
  assert.deepEqual(linesIn(text), [2, 3, 4]);
  assert.match(text, /3 lines with <q>error<\/q>/);
  assert.match(text, /href="[^"]+\?line=2#L2"[^>]*>2<\/a><span><mark>ERRor<\/mark>: &lt;b&gt;<\/span>/);
  assert.doesNotMatch(text, /Search the rest/);
  assert.ok(!text.includes('\x1b'));
  const none = (await reporter.get(`${path}?search=%3Cscript%3E`)).text;
  assert.match(none, /No lines with <q>&lt;script&gt;<\/q>/);
  assert.match((await reporter.get(`${path}?search=%20`)).text, /id="L4"/);
  assert.equal((await reporter.get(`${path}?search=${'x'.repeat(201)}`)).status, 400);
  assert.equal((await reporter.get(`${path}?search=x&from=-1`)).status, 400);
});

test('does not search a log that the user may not read', async () => {
  const path = await printed('the needle\n');
  await setJob(gantry, idIn(path), { debug_trace: 1 });
  assert.deepEqual(linesIn((await developer.get(`${path}?search=needle`)).text), [1]);
  const { status, text } = await reporter.get(`${path}?search=needle`);
  assert.deepEqual([status, linesIn(text)], [200, []]);
  assert.match(text, /No log/);
});

const links = async (path: string): Promise<number[]> => {
  const found: number[] = [];
  for (let next: string | null = path; next !== null;) {
    const { text } = await reporter.get(next);
    found.push(...linesIn(text));
    next = /href="([^"]+)">Search the rest/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? null;
  }
  return found;
};

test('searches a long log in bounded parts', async () => {
  const lines = Array.from({ length: 300_000 }, (_one, at) =>
    at % 1_000 === 7 ? `needle ${at}` : `hay ${'.'.repeat(at % 120)}`,
  );
  const path = await printed(`${lines.join('\n')}\n`);
  const wanted = lines.flatMap((line, at) => (line.startsWith('needle') ? [at + 1] : []));
  const { text } = await reporter.get(`${path}?search=needle`);
  assert.equal(linesIn(text).length, 100);
  assert.deepEqual(await links(`${path}?search=needle`), wanted);
  assert.deepEqual(await links(`${path}?search=needle+299007`), [299_008]);
});

test('searches a log with a line longer than one part', async () => {
  const path = await printed(`first needle\n${'x'.repeat(17 * 1024 * 1024)}\nneedle after`);
  assert.deepEqual(await links(`${path}?search=needle`), [1, 3]);
});
