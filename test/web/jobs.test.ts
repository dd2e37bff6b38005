/** Pages of pipelines, jobs and runners in a browser, with and without scripts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedArtifact, buildZip } from '../support/ci/artifacts.ts';
import { seedPipeline } from '../support/ci/jobs.ts';
import { type Peer, type PeerJob, makePeer, seedRunner } from '../support/ci/fake_runner.ts';
import { seedProject } from '../support/seed.ts';
import { type Web, openWeb, skip } from './web.ts';

let web: Web;
let project: { id: number; full_path: string };
let login: string;
let peer: Peer;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  login = await web.makeUser({ admin: true });
  project = await seedProject(web.gantry, { visibility: 'private' });
  peer = makePeer(web.gantry, { token: (await seedRunner(web.gantry)).token });
});
after(async () => {
  if (skip !== false) return;
  peer.close();
  await web.close();
});

/** A job that runs. */
const begin = async (): Promise<{ job: PeerJob; path: string; pipeline: number }> => {
  const { id } = await seedPipeline(web.gantry, { project: project.id, file: 'one: { script: x }' });
  const job = await peer.take();
  return { job, path: `/${project.full_path}/-/jobs/${job.id}`, pipeline: id };
};

/** Attacks in the text of a log. */
const hostile = [
  '</span></div><script>document.title = "run"</script><img src=x onerror="document.title = 1">',
  '<style>body { display: none }</style><a href="javascript:alert(1)" style="position:fixed">x</a>',
  '\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07\x1b[31;44;1mred\x1b[0m',
].join('\n');

const section = (what: string, time: number, name = 'build'): string =>
  `section_${what}:${time}:${name}\r\x1b[0K`;

const linesOn = async (page: Page): Promise<string[]> =>
  await page.locator('.log .line > span').allTextContents();

test('a log grows in an open page, and nothing in it runs or changes the page', { skip }, async () => {
  const { job, path } = await begin();
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.goto(path);
    await page.getByText('No output yet').waitFor();
    await peer.trace(job, `${section('start', 10)}Build\nfirst\n`);
    await page.getByText('first', { exact: true }).waitFor();
    await page.locator('.log summary').click();
    await peer.trace(job, `${hostile}\nsec`);
    await page.getByText('red', { exact: true }).waitFor({ state: 'attached' });
    assert.equal(await page.locator('.log details').getAttribute('open'), null);
    await peer.trace(job, `ond\n${section('end', 75)}after\n`);
    await page.getByText('after', { exact: true }).waitFor();
    assert.equal(await page.locator('.log summary time').textContent(), '1:05');
    await peer.finish(job, 'failed', { failure_reason: 'script_failure' });
    await page.getByText('The job failed: script failure.').waitFor();
    await page.getByRole('button', { name: 'Retry one' }).waitFor();
    const lines = await linesOn(page);
    assert.deepEqual([lines[0], lines[1], lines.at(-2), lines.at(-1)], ['Build', 'first', 'second', 'after']);
    assert.ok(lines.includes(hostile.split('\n')[0] ?? '?'));
    assert.match(await page.title(), /^Job #/);
    assert.equal(
      await page.locator('.log').locator('script, img, style, [style], a[href^=javascript]').count(),
      0,
    );
    const red = page.locator('.log .f1.b4.bold');
    assert.equal(await red.textContent(), 'red');
    await page.locator('#L2 > a').focus();
    await page.locator('.log summary').click();
    await page.locator('#L2 > a').click();
    assert.match(page.url(), /#L2$/);
    await web.assertFine(page);
  });
});

test('a reader at the end follows the log', { skip }, async () => {
  const { job, path } = await begin();
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.goto(path);
    await page.getByLabel('Stay at the end of the log').check();
    await peer.trace(job, Array.from({ length: 300 }, (_one, at) => `line ${at}\n`).join(''));
    await page.getByText('line 299', { exact: true }).waitFor();
    // Not by waitForFunction, whose polling the page's CSP forbids.
    while ((await page.evaluate<number>('scrollY')) <= 1000) await page.waitForTimeout(20);
    await page.evaluate('scrollTo(0, 500)');
    await page.locator('#follow:not(:checked)').waitFor();
    await peer.trace(job, 'the last\n');
    await page.getByText('the last', { exact: true }).waitFor();
    assert.equal(await page.evaluate('scrollY'), 500);
  });
  await peer.finish(job);
});

test('without scripts the page shows the log, reloads itself, and every action works', { skip }, async () => {
  const { job, path, pipeline } = await begin();
  await peer.trace(job, 'so far\n');
  await web.withPage(
    async (page) => {
      await web.signIn(page, login);
      await page.goto(path);
      assert.deepEqual(await linesOn(page), ['so far']);
      await peer.trace(job, 'and more\n');
      await page.getByText('and more').waitFor({ timeout: 20_000 });
      await page.getByRole('button', { name: 'Cancel one' }).click();
      await page.getByText('The job was canceled.').waitFor();
      await peer.finish(job, 'failed');
      await page.goto(`/${project.full_path}/-/pipelines/${pipeline}`);
      await page.getByRole('button', { name: 'Retry one' }).click();
      await page.getByText('This job replaces the previous job.').waitFor();
    },
    { javaScriptEnabled: false },
  );
  const again = await peer.take();
  await peer.finish(again);
});

const visitAll = async (page: Page): Promise<void> => {
  const { job, path, pipeline } = await begin();
  const colors = Array.from({ length: 108 }, (_one, at) => `\x1b[${at}mtext ${at}\x1b[0m`).join(' ');
  const pairs = [0, 1, 2, 3, 4, 5, 6, 7].map((back) =>
    [0, 1, 2, 3, 4, 5, 6, 7]
      .map((front) => `\x1b[${30 + front};${40 + back}mx${front}${back}\x1b[2mfaint\x1b[0m`)
      .join(' '),
  );
  await peer.trace(
    job,
    `${section('start', 1)}Build\n${colors}\n${section('end', 2)}\n${pairs.join('\n')}\n`,
  );
  await seedArtifact(
    web.gantry,
    { id: job.id, project_id: project.id },
    await buildZip({ 'a/b.txt': 'b', 'c.txt': 'c' }),
  );
  const base = `/${project.full_path}/-`;
  for (const one of [path, `${base}/pipelines/${pipeline}`]) {
    await page.goto(one);
    await web.assertFine(page);
  }
  await peer.finish(job);
  const rest = ['/pipelines', `/pipelines/${pipeline}`, `/jobs/${job.id}/artifacts/browse`, '/runners'];
  for (const one of [path, ...rest.map((below) => base + below), '/admin/runners', '/admin/runners/1']) {
    await page.goto(one);
    assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1, one);
    await web.assertFine(page);
    const width = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    assert.equal(width, 0, one);
  }
};

for (const colorScheme of ['light', 'dark'] as const) {
  test(
    `the pages of pipelines, jobs and runners have no serious fault, in ${colorScheme}`,
    { skip },
    async () => {
      const viewport = colorScheme === 'light' ? { width: 360, height: 700 } : { width: 1280, height: 800 };
      await web.withPage(
        async (page) => {
          await web.signIn(page, login);
          await page.waitForURL('/');
          await visitAll(page);
        },
        { colorScheme, viewport },
      );
    },
  );
}

test('an administrator makes a runner, pauses it and deletes it, without scripts', { skip }, async () => {
  await web.withPage(
    async (page) => {
      await web.signIn(page, login);
      await page.goto('/admin/runners');
      await page.getByLabel('Description').fill('my runner');
      await page.getByLabel('Tags', { exact: true }).fill('deploy');
      await page.getByRole('button', { name: 'Create runner' }).click();
      assert.match((await page.locator('code.secret').textContent()) ?? '', /^glrt-/);
      await page.getByRole('link', { name: 'I have copied it' }).click();
      const row = page.getByRole('row', { name: 'my runner' });
      await row.getByRole('button', { name: 'Pause' }).click();
      assert.match((await page.getByRole('status').textContent()) ?? '', /was paused/);
      await row.getByRole('button', { name: 'Delete' }).click();
      assert.equal(await row.count(), 0);
    },
    { javaScriptEnabled: false },
  );
});

/** Runs in the page. Returns the ends of the lines of the graph that touch no box: of needed jobs at the right, of others at the left. */
const findLooseEnds = (): string[] => {
  type Point = { x: number; y: number };
  type Box = { left: number; right: number; top: number; bottom: number };
  type Found = {
    getAttribute: (name: string) => string | null;
    getScreenCTM: () => { a: number; d: number; e: number; f: number };
    getBoundingClientRect: () => Box;
  };
  const { document } = globalThis as unknown as {
    document: {
      querySelector: (selector: string) => Found;
      querySelectorAll: (selector: string) => Iterable<Found>;
    };
  };
  const line = document.querySelector('.stages .edges path');
  const { a, d, e, f } = line.getScreenCTM();
  const boxes = [...document.querySelectorAll('.stages .job')].map((job) => job.getBoundingClientRect());
  const touches = ({ x, y }: Point, side: 'left' | 'right'): boolean =>
    boxes.some(
      (box) =>
        Math.abs(box[side] - (a * x + e)) < 1.5 && Math.abs((box.top + box.bottom) / 2 - (d * y + f)) < 1.5,
    );
  const lines = (line.getAttribute('d') ?? '').split('M').filter((one) => one !== '');
  return lines.flatMap((one) => {
    const numbers = one.split(/[^-.\d]+/).map(Number);
    const [start, end] = [
      { x: numbers[0] ?? 0, y: numbers[1] ?? 0 },
      { x: numbers.at(-2) ?? 0, y: numbers.at(-1) ?? 0 },
    ];
    const isSameStage = start.x === end.x;
    return touches(start, isSameStage ? 'left' : 'right') && touches(end, 'left') ? [] : [one];
  });
};

test('lines of the graph reach from needed jobs to those that wait, at every size', { skip }, async () => {
  const file = `
stages: [prepare, build, test]
"a job with a name that is longer than its box": { stage: prepare, script: x }
install: { stage: prepare, script: x, needs: ["a job with a name that is longer than its box"] }
build: { stage: build, script: x, needs: [install] }
unit: { stage: test, script: x, needs: [build, install] }
docs: { stage: test, script: x, needs: ["a job with a name that is longer than its box"] }`;
  const { id } = await seedPipeline(web.gantry, { project: project.id, file });
  const path = `/${project.full_path}/-/pipelines/${id}`;
  for (const viewport of [
    { width: 1280, height: 860 },
    { width: 375, height: 812 },
  ]) {
    await web.withPage(
      async (page) => {
        await web.signIn(page, login);
        await page.goto(path);
        assert.equal(await page.locator('.edges path').count(), 1);
        assert.deepEqual(await page.evaluate(findLooseEnds), []);
        const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
        assert.ok(width <= viewport.width, `${width} of ${viewport.width} pixels`);
        await web.assertFine(page);
        await page.goto(`/${project.full_path}/-/pipelines`);
        await page.getByRole('link', { name: 'prepare: pending' }).first().click();
        assert.match(page.url(), /#stage-\d+$/);
      },
      { viewport, colorScheme: 'dark' },
    );
  }
});
