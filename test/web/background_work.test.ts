/** How the administrators' page of background work shows long payloads and errors, in a browser. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { never } from '../../src/platform/queue/leases.ts';
import { type Web, openWeb, skip } from './web.ts';

let web: Web;
before(async () => {
  if (skip === false) web = await openWeb();
});
after(async () => {
  if (skip === false) await web.close();
});

const addFailedWork = async (): Promise<void> => {
  const payload = JSON.stringify({ path: 'x'.repeat(900) });
  await web.gantry.service.platform.store.write(
    async ({ db }) =>
      await sql`insert into work (name, payload, attempts, run_at, created_at, last_error)
        values ('follow_push', ${payload}, 9, ${never}, 1, ${'e'.repeat(400)})`.execute(db),
  );
};

const openPage = async (page: Page): Promise<void> => {
  await web.signIn(page, await web.makeUser({ admin: true }));
  await page.waitForURL('/');
  await page.goto('/admin/background_work');
};
/** Of the document and of each box that may scroll sideways, the pixels of its content that do not fit. */
const hiddenWidths = async (page: Page): Promise<number[]> =>
  await page.evaluate(
    "[document.documentElement, ...document.querySelectorAll('.wide')].map((box) => box.scrollWidth - box.clientWidth)",
  );

test('a long unbroken payload and error wrap in their column', { skip }, async () => {
  await addFailedWork();
  await web.withPage(
    async (page) => {
      await openPage(page);
      assert.deepEqual(await hiddenWidths(page), [0, 0, 0]);
      await web.assertFine(page);
    },
    { viewport: { width: 1100, height: 700 } },
  );
});

test('on a small screen the table scrolls sideways and the page does not', { skip }, async () => {
  await addFailedWork();
  await web.withPage(
    async (page) => {
      await openPage(page);
      const [document = 0, , table = 0] = await hiddenWidths(page);
      assert.deepEqual({ document, scrolls: table > 0 }, { document: 0, scrolls: true });
      const details = await page.locator('td.details').first().boundingBox();
      assert.ok((details?.width ?? 0) > 190, 'the details are squeezed');
      await web.assertFine(page);
    },
    { viewport: { width: 375, height: 700 } },
  );
});
