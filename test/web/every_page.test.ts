/** Looks at every page in a browser: its heading, what axe finds, its width on a phone, its keys, and the console. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { fill } from '../../tools/seed/fill.ts';
import { canonicalPath } from '../../src/doors/web/request/project_paths.ts';
import { settle } from '../support/seed_merge_requests.ts';
import { sample } from '../support/run/sample.ts';
import { rootToken } from '../support/service.ts';
import { listPageAddresses, listSignedOutAddresses, seedRest } from './page_addresses.ts';
import { findFaults, findFocusFaults } from './page_faults.ts';
import { type Web, openWeb, password, pathOf, skip } from './web.ts';

let web: Web;
let admin: string;
let pages: [line: string, address: string][];
let signedOut: string[];

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  await fill({ url: web.gantry.url, token: rootToken, password });
  const ids = await seedRest(web.gantry);
  pages = listPageAddresses(ids);
  signedOut = listSignedOutAddresses(ids);
  await settle(web.gantry);
  admin = await web.makeUser({ admin: true });
});
after(async () => {
  if (skip === false) await web.close();
});

/** Opens a page. Returns why it is not the one that was asked for; null: it is. */
const open = async (page: Page, address: string, status = 200): Promise<string | null> => {
  const answer = await page.goto(address);
  if (answer?.status() !== status) return `answers ${answer?.status()}`;
  const [asked = ''] = canonicalPath(address).split('?');
  return decodeURI(pathOf(page)) === decodeURI(asked) ? null : `leads to ${pathOf(page)}`;
};

type Look = BrowserContextOptions & { viewport: { width: number; height: number } };

const wide = { width: 1280, height: 860 };
const phone = { width: 375, height: 812 };

/** One page in so many in `npm test`, for each look. */
const share = { wide: 8, phone: 16 };

const looks: Record<string, { share: number; options: Look }> = {
  'wide and light': { share: share.wide, options: { colorScheme: 'light', viewport: wide } },
  'wide and dark': { share: share.wide, options: { colorScheme: 'dark', viewport: wide } },
  'on a phone and light': { share: share.phone, options: { colorScheme: 'light', viewport: phone } },
  'on a phone and dark': { share: share.phone, options: { colorScheme: 'dark', viewport: phone } },
};

for (const [name, { share: one, options }] of Object.entries(looks)) {
  test(`every page can be used by everybody, ${name}`, { skip }, async () => {
    const drawn = sample(pages, one, ([line]) => `${name} ${line}`);
    const faults: string[] = [];
    await web.withPage(async (page) => {
      await web.signIn(page, admin);
      for (const [line, address] of drawn) {
        const refusal = await open(page, address);
        const found = refusal === null ? await findFaults(page, options.viewport.width) : [refusal];
        faults.push(...found.map((fault) => `${line} (${address}): ${fault}`));
      }
    }, options);
    assert.deepEqual(faults, []);
  });

  test(`public pages can be used without an account, ${name}`, { skip }, async () => {
    const drawn = sample(signedOut, one, (address) => `${name} ${address}`);
    const faults: string[] = [];
    await web.withPage(async (page) => {
      // The two that a new user sees first are looked at in each run.
      for (const address of new Set(['/users/sign_in', '/users/sign_up', ...drawn])) {
        const refusal = await open(page, address);
        const found = refusal === null ? await findFaults(page, options.viewport.width) : [refusal];
        faults.push(...found.map((fault) => `${address}: ${fault}`));
      }
      const missing = await open(page, '/help/no-such-topic', 404);
      faults.push(...(missing === null ? await findFaults(page, options.viewport.width) : [missing]));
    }, options);
    assert.deepEqual(faults, []);
  });
}

/** A page takes as many key presses as it has controls: each test walks a part of the pages. */
const parts = 6;

for (let part = 0; part < parts; part += 1)
  test(
    `the Tab key reaches all controls and shows where it is, part ${part + 1} of ${parts}`,
    { skip },
    async () => {
      const own = pages.filter((_page, at) => at % parts === part);
      const drawn = sample(own, share.phone, ([line]) => `keys ${line}`);
      const faults: string[] = [];
      await web.withPage(
        async (page) => {
          await web.signIn(page, admin);
          for (const [line, address] of drawn) {
            const refusal = await open(page, address);
            const found = refusal === null ? await findFocusFaults(page) : [refusal];
            faults.push(...found.map((fault) => `${line} (${address}): ${fault}`));
          }
        },
        { viewport: wide },
      );
      assert.deepEqual(faults, []);
    },
  );
