/** Looks at every page in a browser: its heading, what axe finds, its width on a phone, and what the console says. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { fill } from '../../tools/seed/fill.ts';
import { settle } from '../support/seed_merge_requests.ts';
import { sample } from '../support/run/sample.ts';
import { rootToken } from '../support/service.ts';
import { seriousFaults } from './chromium.ts';
import { listPageAddresses, seedRest } from './page_addresses.ts';
import { type Web, openWeb, password, skip } from './web.ts';

let web: Web;
let admin: string;
let pages: [line: string, address: string][];

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  await fill({ url: web.gantry.url, token: rootToken, password });
  pages = listPageAddresses(await seedRest(web.gantry));
  await settle(web.gantry);
  admin = await web.makeUser({ admin: true });
});
after(async () => {
  if (skip === false) await web.close();
});

/** In the page: says which landmarks are missing, or have no name that tells them apart. */
const landmarkFaults = `(() => {
  const faults = [];
  if (document.querySelectorAll('main').length !== 1) faults.push('has no single main landmark');
  if (document.querySelector('body > header, .topbar') === null) faults.push('has no banner');
  const names = [...document.querySelectorAll('nav')].map((nav) => nav.getAttribute('aria-label') ?? '');
  if (names.includes('')) faults.push('has a nameless navigation');
  if (new Set(names).size < names.length) faults.push('has navigations of one name: ' + names.join(', '));
  return faults.join(', ');
})()`;

const findFaults = async (page: Page, address: string, width: number): Promise<string[]> => {
  const answer = await page.goto(address);
  if (answer?.status() !== 200) return [`answers ${answer?.status()}`];
  // A README has headings of its own.
  const headings = await page.locator('h1:not(.prose *)').count();
  const landmarks = String(await page.evaluate(landmarkFaults));
  const needed = Number(await page.evaluate('document.documentElement.scrollWidth'));
  return [
    ...(headings === 1 ? [] : [`has ${headings} first-level headings`]),
    ...(landmarks === '' ? [] : [landmarks]),
    ...(needed <= width ? [] : [`needs ${needed} pixels of ${width}`]),
    ...(await seriousFaults(page)),
  ];
};

const looks: Record<string, BrowserContextOptions & { viewport: { width: number; height: number } }> = {
  'wide and light': { colorScheme: 'light', viewport: { width: 1280, height: 860 } },
  'wide and dark': { colorScheme: 'dark', viewport: { width: 1280, height: 860 } },
  'on a phone': { colorScheme: 'light', viewport: { width: 375, height: 812 } },
};

/** One page in so many in `npm test`, for each look. */
const share = 8;

for (const [name, options] of Object.entries(looks)) {
  test(`every page can be used by everybody, ${name}`, { skip }, async () => {
    const asked = sample(pages, share, ([line]) => `${name} ${line}`);
    const faults: string[] = [];
    await web.withPage(async (page) => {
      await web.signIn(page, admin);
      for (const [line, address] of asked) {
        const found = await findFaults(page, address, options.viewport.width);
        faults.push(...found.map((fault) => `${line} (${address}): ${fault}`));
      }
    }, options);
    assert.deepEqual(faults, []);
  });
}
