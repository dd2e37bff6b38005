/** Artifacts opened in a browser by a signed-in user: nothing in them runs on the service's origin. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BrowserContext, Page, Route } from 'playwright-core';
import { buildZip } from '../support/ci/artifacts.ts';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { settle } from '../support/seed_merge_requests.ts';
import { makePeer, seedRunner } from '../support/ci/fake_runner.ts';
import { type Web, openWeb, skip } from './web.ts';

let web: Web;
let login: string;
/** Below `/api/v4`, of the files of a job in a private project of the user. */
let files: string;

const beacon = '/beacon';
/** A page is loaded after its images were requested, so waiting for it covers all that its scripts do. */
const script = `document.documentElement.append(Object.assign(new Image(), { src: '${beacon}' }))`;
const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>new Image().src = '${beacon}'</script></svg>`;

const runJob = async (project: number): Promise<number> => {
  const { gantry } = web;
  const config = 'pages: { script: x, artifacts: { paths: [public] } }';
  await seedCommit(gantry, project, { '.gitlab-ci.yml': config });
  await settle(gantry);
  const peer = makePeer(gantry, { token: (await seedRunner(gantry)).token });
  const job = await peer.take();
  const archive = await buildZip({
    'public/index.html': `<html><body><script>${script}</script><img src=x onerror="${script}"></body></html>`,
    'public/picture.svg': svg,
    'public/page.xhtml': `<html xmlns="http://www.w3.org/1999/xhtml"><script>${script}</script></html>`,
    'public/script.js': script,
  });
  await peer.run(job, { archive });
  peer.close();
  return job.id;
};

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  login = await web.makeUser();
  const { body } = await web.gantry.api('POST /projects?sudo=' + login, {
    json: { name: 'pages', visibility: 'private' },
  });
  files = `/api/v4/projects/${body.id}/jobs/${await runJob(body.id)}/artifacts/public`;
});
after(async () => {
  if (skip === false) await web.close();
});

/** A page of somebody who is signed in, and what was asked for of all that scripts of artifacts would ask for. */
const asVictim = async (work: (page: Page, beacons: string[]) => Promise<void>): Promise<void> =>
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    const beacons: string[] = [];
    page.context().on('request', (request) => {
      if (request.url().includes(beacon)) beacons.push(request.url());
    });
    // A page of its own: that something was refused is what is wanted.
    await work(await page.context().newPage(), beacons);
  });

/** Makes the browser receive the files without these headers. */
const without = async (context: BrowserContext, names: string[]): Promise<void> => {
  await context.route(`**${files}/**`, async (route: Route) => {
    const response = await route.fetch();
    const kept = Object.entries(response.headers()).filter(([name]) => !names.includes(name));
    await route.fulfill({ response, headers: Object.fromEntries(kept) });
  });
};

for (const file of ['index.html', 'picture.svg', 'page.xhtml']) {
  test(`${file} is downloaded, not shown`, { skip }, async () => {
    await asVictim(async (page, beacons) => {
      const download = page.waitForEvent('download');
      await page.goto(`${files}/${file}`).catch(() => undefined);
      assert.equal((await download).suggestedFilename(), file);
      assert.equal(page.url(), 'about:blank');
      assert.deepEqual(beacons, []);
    });
  });

  test(`${file} runs nothing in a browser that shows it anyway`, { skip }, async () => {
    await asVictim(async (page, beacons) => {
      await without(page.context(), ['content-disposition']);
      const shown = await page.goto(`${files}/${file}`);
      assert.equal(shown?.status(), 200);
      assert.deepEqual(beacons, []);
    });
  });
}

test('the attacks of these tests succeed without the protection', { skip }, async () => {
  await asVictim(async (page, beacons) => {
    await without(page.context(), ['content-disposition', 'content-security-policy']);
    await page.goto(`${files}/index.html`);
    assert.notEqual(beacons.length, 0);
  });
});

/** What a page would do that somebody brought to it; each answers how it ended. */
const attempts = (folder: string): string => `(async () => {
  const put = async (name, properties) => {
    const element = Object.assign(document.createElement(name), properties);
    const ended = new Promise((resolve) => {
      for (const one of ['load', 'error']) element.addEventListener(one, () => resolve(one));
    });
    document.body.append(element);
    return await ended;
  };
  const script = await put('script', { src: '${folder}/script.js' });
  const worker = await navigator.serviceWorker.register('${folder}/script.js').then(() => 'load', () => 'error');
  await put('iframe', { src: '${folder}/index.html' });
  return [script, worker];
})()`;

test(
  'a page of the service neither runs a script of an archive nor frames a page of one',
  { skip },
  async () => {
    await asVictim(async (page, beacons) => {
      await page.goto('/profile');
      const refused = await page.evaluate(attempts(files));
      assert.deepEqual(refused, ['error', 'error']);
      assert.deepEqual(beacons, []);
    });
  },
);

test('a page of another origin gets no script of an archive', { skip }, async () => {
  await asVictim(async (page, beacons) => {
    const body = `<script src="${web.gantry.url}${files}/script.js"></script>`;
    await page.route('http://elsewhere.example/', (route) =>
      route.fulfill({ contentType: 'text/html', body: `<html><body>${body}</body></html>` }),
    );
    await page.goto('http://elsewhere.example/');
    assert.deepEqual(beacons, []);
  });
});
