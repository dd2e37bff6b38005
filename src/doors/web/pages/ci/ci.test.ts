/** Tests the pages of pipelines and jobs without scripts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { getLogName, seedArtifact, seedTrace, buildZip } from '../../../../../test/support/ci/artifacts.ts';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedPipeline, setJob, setPipeline } from '../../../../../test/support/ci/jobs.ts';
import { settle } from '../../../../../test/support/seed_merge_requests.ts';
import { seedGroup, seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor, contentIn } from '../../../../../test/support/visitor.ts';
import { assets } from '../../assets.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let people: Record<'developer' | 'reporter' | 'guest' | 'stranger', Visitor>;
let base: string;

const someone = async (level: number | null): Promise<Visitor> =>
  (await seedVisitor(gantry, { project: project.id, access_level: level, name: '<i>Ada</i>' })).visitor;

before(async () => {
  gantry = await startTestService();
  const group = await seedGroup(gantry, { visibility: 'private' });
  const below = await seedGroup(gantry, { visibility: 'private', parent: group.id });
  project = await seedProject(gantry, { namespace: below.id, visibility: 'private' });
  base = `/${project.full_path}/-`;
  people = {
    developer: await someone(30),
    reporter: await someone(20),
    guest: await someone(10),
    stranger: await someone(null),
  };
});
after(async () => await gantry.close());

const file = `
stages: [build, test]
build: { stage: build, script: make }
lint: { stage: build, script: lint, allow_failure: true }
ship: { stage: test, script: ship, when: manual }
`;
const seeded = async () => await seedPipeline(gantry, { project: project.id, file, ref: 'topic' });
const get = async (path: string, who: Visitor = people.developer) => await who.get(`${base}/${path}`);
const post = async (path: string, form: Record<string, string> = {}, who: Visitor = people.developer) =>
  await who.post(`${base}/${path}`, form);
const ended = async (id: number, columns: object = {}) =>
  await setJob(gantry, id, { status: 'success', started_at: 1_000, finished_at: 66_000, ...columns });
const job = async (id: number) => (await gantry.api(`GET /projects/${project.id}/jobs/${id}`)).body;

test('the web URLs of the API lead to the pages', async () => {
  const { id, jobs } = await seeded();
  const { web_url } = (await gantry.api(`GET /projects/${project.id}/pipelines/${id}`)).body;
  for (const [url, title] of [
    [web_url, `<h1>Pipeline #${id}</h1>`],
    [(await job(jobs['build'] ?? 0)).web_url, `<h1>Job #${jobs['build']}: build</h1>`],
  ]) {
    assert.ok(url.startsWith(`${gantry.url}${base}`));
    const { status, text } = await people.developer.get(url.slice(gantry.url.length));
    assert.deepEqual([status, text.includes(title)], [200, true]);
  }
});

test('lists pipelines by status, branch and page', async () => {
  const one = await seeded();
  const two = await seedPipeline(gantry, { project: project.id, file, ref: 'other<b>' });
  const all = await get('pipelines');
  assert.match(all.text, new RegExp(`<a href="${base}/pipelines/${one.id}">#${one.id}</a>`));
  assert.match(all.text, /other&lt;b&gt;/);
  const some = (await get('pipelines?ref=topic')).text;
  assert.ok(some.includes(`#${one.id}<`) && !some.includes(`#${two.id}<`));
  assert.match((await get('pipelines?scope=tags')).text, /No pipelines match/);
  assert.match((await get('pipelines?per_page=1&ref=topic')).text, /per_page=1">Next<\/a>/);
  assert.equal((await get('pipelines?scope=odd')).status, 400);
});

test('lists who or what started a pipeline, how long it took and waited, and its commit', async () => {
  const { id } = await seeded();
  await setPipeline(gantry, id, {
    status: 'success',
    duration: 65,
    created_at: 1_000_000,
    started_at: 1_003_000,
    source: 'web',
  });
  const { text } = await get('pipelines');
  const row = text.split('<tr>').find((one) => one.includes(`>#${id}</a>`)) ?? '';
  assert.match(row, /Passed/);
  assert.match(row, />topic<\/a>/);
  assert.match(row, /<code>11111111<\/code>/);
  assert.match(row, /class="person"[^]*<span class="quiet small">web<\/span>/);
  assert.match(row, /1 min 5 s<br><span class="quiet small">queued 3 s<\/span>/);
  assert.match(row, /<time datetime="1970-01-01T00:16:40.000Z" data-relative>/);
});

test('shows the stages and jobs of a pipeline, cancels it, and retries it', async () => {
  const { id, jobs } = await seeded();
  const path = `pipelines/${id}`;
  const { text } = await get(path);
  assert.match(text, /<h2>build<\/h2>[\s\S]+>build<\/a>[\s\S]+Pending[\s\S]+<h2>test<\/h2>[\s\S]+>ship<\/a>/);
  assert.match(
    text,
    /<p class="stage">build<\/p><ul><li><a class="job" href="[^"]+">[^]+?<span class="name">build<\/span>/,
  );
  assert.match(text, /aria-label="Cancel build"/);
  assert.deepEqual([(await post(`${path}/cancel`)).location], [`${base}/${path}`]);
  assert.equal((await job(jobs['build'] ?? 0)).status, 'canceled');
  const after = (await get(path)).text;
  assert.match(after, /The jobs of the pipeline were canceled/);
  assert.match(after, /action="[^"]+\/retry"[\s\S]+Retry failed jobs/);
  await post(`${path}/retry`);
  const { body } = await gantry.api(`GET /projects/${project.id}/pipelines/${id}/jobs?scope[]=pending`);
  assert.deepEqual(body.map(({ name }: { name: string }) => name).toSorted(), ['build', 'lint']);
});

test('creates a pipeline for a branch, and refuses an unknown one', async () => {
  const config = { '.gitlab-ci.yml': 'one: { script: x }' };
  for (const branch of ['main', 'fresh']) await seedCommit(gantry, project.id, config, { branch });
  await settle(gantry);
  const { text } = await get('pipelines');
  assert.match(text, /Run pipeline/);
  const { status, location } = await post('pipelines', { ref: 'fresh' });
  assert.equal(status, 303);
  const made = (await people.developer.get(location ?? '')).text;
  assert.match(
    made,
    /<dt>Triggered by<\/dt><dd><a class="person"[^]+?&lt;i&gt;Ada&lt;\/i&gt;<\/span><\/a> <span class="quiet">web<\/span>/,
  );
  const refused = await post('pipelines', { ref: '<nowhere>' });
  assert.equal(refused.status, 422);
  assert.match(refused.text, /Reference not found[\s\S]+value="&lt;nowhere&gt;"/);
});

test('shows the status, log and artifacts of a job', async () => {
  const { jobs } = await seeded();
  const id = jobs['build'] ?? 0;
  const of = { id, project_id: project.id };
  const log =
    'section_start:1:s\r\x1b[0KBegin\n\x1b[31m<script>alert(1)</script>\x1b[0m\nsection_end:6:s\r\x1b[0K\n';
  await seedTrace(gantry, of, log);
  const zip = await buildZip({ 'public/index.html': '<b>', 'public/deep/a b?.txt': 'x', 'top.txt': 'top' });
  await seedArtifact(gantry, of, zip, { expire_in: '1 day' });
  await ended(id, { status: 'failed', failure_reason: 'script_failure' });
  const { text } = await get(`jobs/${id}`);
  const { artifacts_expire_at: ends } = await job(id);
  assert.ok(text.includes(`They are removed at <time datetime="${ends}">`), ends);
  assert.match(text, /role="alert">The job failed: script failure\./);
  assert.match(text, /<dt>Duration<\/dt><dd>1 min 5 s<\/dd>/);
  assert.match(
    text,
    /<details open><summary class="line" id="L1"><b>1<\/b><span>Begin<\/span><time>0:05<\/time>/,
  );
  assert.match(text, /id="L2">.*<span class="f1">&lt;script&gt;alert\(1\)&lt;\/script&gt;<\/span>/);
  assert.match(text, new RegExp(`href="/api/v4/projects/${project.id}/jobs/${id}/trace"`));
  assert.match(
    text,
    /artifacts.zip <span class="quiet">\(archive, \d+ bytes\)<\/span> <a class="button small" href="[^"]+">Download/,
  );
  const top = (await get(`jobs/${id}/artifacts/browse`)).text;
  assert.match(top, /browse\/public">public\/<\/a>[\s\S]+\/artifacts\/top\.txt">top\.txt<\/a>/);
  const deep = (await get(`jobs/${id}/artifacts/browse/public/deep`)).text;
  const [, link = ''] = /<a href="(\/api[^"]+)">a b\?\.txt/.exec(deep) ?? [];
  assert.equal((await people.developer.get(link)).text, 'x');
  for (const odd of ['nowhere', 'top.txt', 'public%2F..', '..%2Fx', 'a%5Cb']) {
    const { status } = await get(`jobs/${id}/artifacts/browse/${odd}`);
    assert.ok(status === 404 || status === 400, `${odd} ${status}`);
  }
});

test('shows timestamps and wraps lines as the reader chooses', async () => {
  const { jobs } = await seeded();
  const id = jobs['build'] ?? 0;
  const of = { id, project_id: project.id };
  const lines = [
    '2026-11-27T09:42:57.123456Z 00O section_start:1:s\\r',
    '2026-11-27T09:42:57.200000Z 00O+\x1b[0KPrepare',
    '2026-11-27T09:42:58.000000Z 01O built <b>it</b>',
  ];
  await seedTrace(gantry, of, `${lines.join('\n').replaceAll('\\r', '\r')}\n`);
  await ended(id, { status: 'failed', failure_reason: 'script_failure', exit_code: 7 });
  const shown = async (query = ''): Promise<string> => contentIn(await get(`jobs/${id}${query}`));
  const plain = await shown();
  assert.match(plain, /role="alert">The job failed: script failure, exit code 7\./);
  assert.match(plain, /<div class="log"><details open><summary class="line" id="L1"><b>1<\/b><span>Prepare/);
  assert.doesNotMatch(plain, /09:42/);
  assert.match(
    plain,
    /name="timestamps" value="true">Show timestamps<[^]+name="wrap" value="false">Do not wrap lines</,
  );
  assert.match(
    await shown('?timestamps=true&line=3'),
    /name="timestamps" value="false">Hide[^]+<div class="log timed">[^]+id="L3"><a [^>]+>3<\/a><time datetime="2026-11-27T09:42:58\.000000Z">09:42:58<\/time><span>built &lt;b/,
  );
  assert.doesNotMatch(await shown('?wrap=false'), /timed/, 'an address is not remembered');
  const choose = async (form: Record<string, string>): Promise<void> => {
    const { location } = await people.developer.post('/-/preferences', { ...form, return_to: '/?line=3' });
    assert.equal(location, '/?line=3');
  };
  await choose({ timestamps: 'true' });
  await choose({ wrap: 'false' });
  assert.match(await shown(), /value="true">Wrap lines<[^]+<div class="log timed unwrapped">/);
  assert.match(await shown('?timestamps=false&wrap=true'), /<div class="log">/);
  await choose({ timestamps: 'false', wrap: 'true' });
  const found = await shown('?search=prepare');
  assert.match(found, /<a href="[^"]+\?line=1#L1" aria-label="Line 1">1<\/a><span><mark>Prepare/);
  assert.equal((await get(`jobs/${id}?timestamps=perhaps`)).status, 400);
  const raw = await people.developer.get(`/api/v4/projects/${project.id}/jobs/${id}/trace`);
  assert.ok(raw.text.startsWith('2026-11-27T09:42:57.123456Z 00O section_start'));
  await seedTrace(gantry, { id: jobs['lint'] ?? 0, project_id: project.id }, 'plain\n');
  assert.doesNotMatch((await get(`jobs/${jobs['lint']}`)).text, /timestamps</);
});

test('keeps and erases artifacts', async () => {
  const { jobs } = await seeded();
  const id = jobs['build'] ?? 0;
  const of = { id, project_id: project.id };
  await seedTrace(gantry, of, 'text\n');
  await seedArtifact(gantry, of, await buildZip({ 'a.txt': 'a' }), { expire_in: '1 day' });
  await ended(id);
  assert.match((await get(`jobs/${id}`)).text, /They are removed at/);
  await post(`jobs/${id}/keep`);
  assert.match((await get(`jobs/${id}`)).text, /The artifacts no longer expire\.[\s\S]+They do not expire/);
  assert.equal((await post(`jobs/${id}/erase`)).status, 303);
  const { text } = await get(`jobs/${id}`);
  assert.match(text, /The log was erased/);
  assert.doesNotMatch(text, /Artifacts|\/erase"/);
});

test('starts, cancels and retries a job', async () => {
  const { jobs } = await seeded();
  const [build = 0, ship = 0] = [jobs['build'], jobs['ship']];
  await get(`jobs/${build}`);
  await post(`jobs/${build}/cancel`);
  assert.equal((await job(build)).status, 'canceled');
  const again = await post(`jobs/${build}/retry`);
  const next = Number(/\d+$/.exec(again.location ?? '')?.[0]);
  assert.ok(next > build);
  assert.equal((await job(next)).status, 'pending');
  assert.equal((await post(`jobs/${build}/play`)).status, 400);
  await ended(next);
  await ended(jobs['lint'] ?? 0);
  await setJob(gantry, ship, { status: 'manual' });
  assert.match((await get(`jobs/${ship}`)).text, /action="[^"]+\/play"/);
  await post(`jobs/${ship}/play`);
  assert.equal((await job(ship)).status, 'pending');
  assert.equal((await post(`jobs/${ship}/retry`)).status, 403);
});

test('shows a long log in parts, with a link to each line', async () => {
  const { jobs } = await seeded();
  const id = jobs['build'] ?? 0;
  const lines = Array.from({ length: 6_000 }, (_one, at) => `line ${at + 1} ${'.'.repeat((at * 37) % 150)}`);
  await seedTrace(gantry, { id, project_id: project.id }, `${lines.join('\n')}\n`);
  await ended(id);
  const numbersIn = (text: string): number[] =>
    [...text.matchAll(/id="L(\d+)"/g)].map(([, number]) => Number(number));
  const shown: number[] = [];
  const parts = Number(/of (\d+)<\/span>/.exec((await get(`jobs/${id}?part=1`)).text)?.[1]);
  assert.ok(parts > 3);
  for (let part = 1; part <= parts; part += 1) {
    const { text } = await get(`jobs/${id}?part=${part}`);
    for (const number of numbersIn(text)) {
      assert.ok(
        text.includes(
          `id="L${number}"><a href="?line=${number}#L${number}" aria-label="Line ${number}">${number}</a><span>line ${number} `,
        ),
      );
      shown.push(number);
    }
  }
  assert.deepEqual(
    shown,
    lines.map((_line, at) => at + 1),
  );
  const last = numbersIn((await get(`jobs/${id}`)).text);
  assert.deepEqual([last.at(-1), (last[0] ?? 0) > 1], [6_000, true]);
  for (const number of [1, 2, 3_000, 5_999, 6_000]) {
    assert.ok(numbersIn((await get(`jobs/${id}?line=${number}`)).text).includes(number), String(number));
  }
  assert.match((await get(`jobs/${id}?part=99`)).text, /No log/);
  const of = { id, project_id: project.id };
  await seedTrace(gantry, of, 'one more\n'.repeat(50_000));
  assert.match((await get(`jobs/${id}`)).text, /id="L56000">[^\n]+one more/);
  assert.match(
    (await get(`jobs/${id}?line=6001`)).text,
    /id="L6000">[^\n]+line 6000[^\n]+\n[^\n]+id="L6001">[^\n]+one more/,
  );
  await gantry.service.platform.traces.restart(await getLogName(gantry, id));
  await seedTrace(gantry, of, `${'long '.repeat(30_000)}\n${'other\n'.repeat(30_000)}`);
  assert.match((await get(`jobs/${id}`)).text, /id="L30001">[^\n]+other/);
  assert.equal((await get(`jobs/${id}?line=0`)).status, 400);
});

test('shows a line longer than a part', async () => {
  const { jobs } = await seeded();
  const id = jobs['build'] ?? 0;
  await seedTrace(gantry, { id, project_id: project.id }, `first\n${'x'.repeat(700_000)}\nlast`);
  await ended(id);
  assert.match((await get(`jobs/${id}`)).text, /id="L3">.*<span>last<\/span>/);
  assert.match((await get(`jobs/${id}?part=1`)).text, /id="L1">.*first[\s\S]+id="L2">.*xxx/);
  assert.equal((await get(`jobs/${id}?part=3`)).status, 200);
});

test('hides buttons from users who may only read, and refuses their requests', async () => {
  const { id, jobs } = await seeded();
  const build = jobs['build'] ?? 0;
  assert.match((await get('pipelines')).text, new RegExp(`action="[^"]+/pipelines/${id}/cancel"`));
  for (const path of [`pipelines/${id}`, `jobs/${build}`, 'pipelines']) {
    const seen = await get(path, people.reporter);
    assert.deepEqual(
      [seen.status, contentIn(seen).match(/action="\/(?!users)[^"]+"/g)],
      [200, path === 'pipelines' ? [`action="${base}/pipelines"`] : null],
    );
  }
  for (const path of [`pipelines/${id}/cancel`, `jobs/${build}/cancel`, `jobs/${build}/erase`, 'pipelines']) {
    assert.equal((await post(path, { ref: 'topic' }, people.reporter)).status, 403, path);
  }
  assert.equal((await job(build)).status, 'pending');
});

test('answers 404 for what the user cannot see', async () => {
  const { id, jobs } = await seeded();
  const build = jobs['build'] ?? 0;
  await people.stranger.get('/profile');
  for (const path of [
    'pipelines',
    `pipelines/${id}`,
    `jobs/${build}`,
    `jobs/${build}/artifacts/browse`,
    'runners',
  ]) {
    const hidden = await get(path, people.stranger);
    const missing = await people.stranger.get(`/no/such/-/${path}`);
    assert.deepEqual([hidden.status, hidden.text], [404, missing.text], path);
    const signedOut = await openVisitor(gantry).get(`${base}/${path}`);
    assert.equal(signedOut.location, `/users/sign_in?return_to=${encodeURIComponent(`${base}/${path}`)}`);
  }
  for (const path of [`pipelines/${id}/cancel`, `jobs/${build}/cancel`, `jobs/${build}/erase`, 'pipelines']) {
    assert.equal((await post(path, { ref: 'topic' }, people.stranger)).status, 404, path);
  }
  assert.equal(
    (await gantry.api(`PUT /projects/${project.id}`, { json: { public_builds: false } })).status,
    200,
  );
  assert.equal((await get(`jobs/${build}`, people.guest)).status, 403);
  await gantry.api(`PUT /projects/${project.id}`, { json: { public_builds: true } });
  const other = await seedProject(gantry, {});
  const elsewhere = await people.developer.get(`/${other.full_path}/-/jobs/${build}`);
  assert.ok(elsewhere.status === 404 || elsewhere.status === 403);
  assert.equal((await get('jobs/999999999')).status, 404);
  assert.equal((await get('jobs/x')).status, 404);
});

test('requires the CSRF token', async () => {
  const { id, jobs } = await seeded();
  const build = jobs['build'] ?? 0;
  const without = { authenticity_token: null as unknown as string };
  for (const path of [`pipelines/${id}/cancel`, `jobs/${build}/cancel`]) {
    assert.equal((await post(path, without)).status, 422);
  }
  assert.equal((await job(build)).status, 'pending');
});

test('allows its scripts alone, by their full addresses; live pages reload without it', async () => {
  const { jobs } = await seeded();
  const id = jobs['build'] ?? 0;
  const open = await get(`jobs/${id}`);
  const [, script = ''] = /<script type="module" src="([^"]+)"><\/script>/.exec(open.text) ?? [];
  const policy = open.headers.get('content-security-policy') ?? '';
  const tools = `${gantry.url}${assets().editor_tools}`;
  assert.ok(policy.includes(`; script-src ${gantry.url}${script} ${tools}; connect-src 'self';`), policy);
  assert.match(open.text, /<noscript><meta http-equiv="refresh"/);
  assert.match(open.text, new RegExp(`data-live="/-/jobs/${id}/trace/stream\\?offset=0"`));
  const { headers, text } = await openVisitor(gantry).get(script);
  assert.equal(headers.get('content-type'), 'text/javascript; charset=utf-8');
  assert.match(text, /EventSource/);
  await ended(id);
  const closed = await get(`jobs/${id}`);
  assert.doesNotMatch(closed.text, /http-equiv="refresh"|data-live/);
});
