/** SVG images in a browser: pages show them, and one that an attacker wrote does nothing, however it is opened. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import { seedProject } from '../../support/seed.ts';
import { rootToken } from '../../support/service.ts';
import { settle } from '../../support/seed_merge_requests.ts';
import { type Web, openWeb, skip } from '../web.ts';

const logo = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><style>rect { fill: teal }</style><rect width="40" height="30"/></svg>`;

/** Tries to run scripts, to load files of ours and of others, and to lead away. */
const hostile = `<?xml version="1.0"?>
<?xml-stylesheet type="text/css" href="/-/fetched-stylesheet"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" width="40" height="30" onload="document.documentElement.setAttribute('data-ran', 'onload')">
<script>document.documentElement.setAttribute('data-ran', 'script')</script>
<script href="/-/fetched-script"/>
<style>@import url(/-/fetched-import); rect { fill: url(/-/fetched-fill#a); background: url(https://evil.test/fetched-background) }</style>
<image href="/-/fetched-image"/><image x:href="https://evil.test/fetched-image"/><use href="/-/fetched-use#a"/>
<rect width="40" height="30"/>
<foreignObject width="40" height="30"><body xmlns="http://www.w3.org/1999/xhtml">
<meta http-equiv="refresh" content="0;url=/-/fetched-refresh"/>
<link rel="stylesheet" href="/-/fetched-link"/><link rel="prefetch" href="/-/fetched-prefetch"/>
<img src="/-/fetched-img" onerror="document.documentElement.setAttribute('data-ran', 'onerror')"/>
<iframe src="/-/fetched-frame"></iframe><object data="/-/fetched-object"></object><embed src="/-/fetched-embed"/>
<form id="form" method="post" action="/-/fetched-form"><input autofocus="" onfocus="document.documentElement.setAttribute('data-ran', 'onfocus')"/></form>
</body></foreignObject>
<animate attributeName="x" dur="1ms" onend="document.documentElement.setAttribute('data-ran', 'onend')"/>
</svg>`;

let web: Web;
let project: { id: number; full_path: string };
let upload: string;

/** Uploads a file, and returns its path. */
const uploadFile = async (content: string, name: string): Promise<string> => {
  const form = new FormData();
  form.append('file', new Blob([content]), name);
  const answer = await fetch(`${web.gantry.url}/api/v4/projects/${project.id}/uploads`, {
    method: 'POST',
    headers: { 'private-token': rootToken },
    body: form,
  });
  assert.equal(answer.status, 201);
  return ((await answer.json()) as { full_path: string }).full_path;
};

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  project = await seedProject(web.gantry, { visibility: 'public' });
  await seedCommit(web.gantry, project.id, {
    'README.md': '![logo](art/logo.svg)\n\n![hostile](hostile.svg)\n',
    'art/logo.svg': logo,
    'hostile.svg': hostile,
  });
  await settle(web.gantry);
  upload = await uploadFile(hostile, 'hostile.svg');
});
after(async () => {
  if (skip === false) await web.close();
});

/** Runs in the page: the widths of the images of its content, by their text. */
const readWidths = async (): Promise<[string, number][]> => {
  type Image = { alt: string; loading: string; naturalWidth: number; decode: () => Promise<void> };
  const { document } = globalThis as unknown as {
    document: { querySelectorAll: (all: string) => Iterable<Image> };
  };
  const images = [...document.querySelectorAll('main img[src*=".svg"]')];
  return await Promise.all(
    images.map(async (image) => {
      image.loading = 'eager';
      await image.decode().catch(() => undefined);
      return [image.alt, image.naturalWidth] as [string, number];
    }),
  );
};

/** Runs in the page: what ran of it, and whether it is a document of our origin. */
const readDocument = () => {
  const { document, origin } = globalThis as unknown as {
    origin: string;
    document: { documentElement: { getAttribute: (name: string) => string | null } };
  };
  return { ran: document.documentElement.getAttribute('data-ran'), origin };
};

/** Collects the requests that the content of a hostile image makes. Those that its policy refuses are not made. */
const watchFetches = async (page: Page): Promise<string[]> => {
  const fetched: string[] = [];
  await page.route(/fetched-/, async (route) => {
    fetched.push(route.request().url());
    await route.abort();
  });
  return fetched;
};

type Seen = { ran: string | null; origin: string; url: string; fetched: string[] };

/** Opens the image by its own address, and returns what it did. */
const openImage = async (
  path: string,
  prepare?: (page: Page) => Promise<void>,
): Promise<Seen | undefined> => {
  let seen: Seen | undefined;
  const opening = web.withPage(async (page) => {
    const fetched = await watchFetches(page);
    await prepare?.(page);
    await page.goto(path);
    await page.waitForTimeout(500);
    seen = { ...(await page.evaluate(readDocument)), url: page.url(), fetched: fetched };
  });
  // The browser says in its console what the policy refused.
  await opening.catch((error: unknown) => {
    if (seen === undefined) throw error;
  });
  return seen;
};

test('a README and the page of a file show SVG images', { skip }, async () => {
  await web.withPage(async (page) => {
    const fetched = await watchFetches(page);
    await page.goto(`/${project.full_path}`);
    assert.deepEqual(await page.evaluate(readWidths), [
      ['logo', 40],
      ['hostile', 40],
    ]);
    await page.goto(`/${project.full_path}/-/blob/main/art/logo.svg`);
    assert.deepEqual(await page.evaluate(readWidths), [['logo.svg', 40]]);
    await web.assertFine(page);
    await page.getByRole('link', { name: 'Source' }).click();
    await page.locator('#L1').waitFor();
    await page.getByRole('link', { name: 'Rendered' }).click();
    await page.locator('main img[src*=".svg"]').waitFor();
    assert.deepEqual(fetched, []);
  });
});

test('an SVG image that is opened by its own address runs and fetches nothing', { skip }, async () => {
  for (const path of [`/${project.full_path}/-/raw/main/hostile.svg`, upload]) {
    const url = web.gantry.url + path;
    assert.deepEqual(await openImage(path), { ran: null, origin: 'null', url, fetched: [] }, path);
  }
});

test('the attacks of these tests succeed without the policy', { skip }, async () => {
  const seen = await openImage(upload, async (page) => {
    await page.route(`**${upload}`, async (route) => {
      const response = await route.fetch();
      const headers = { ...response.headers() };
      delete headers['content-security-policy'];
      await route.fulfill({ response, headers });
    });
  });
  assert.ok(seen !== undefined && seen.fetched.length > 3, JSON.stringify(seen));
});
