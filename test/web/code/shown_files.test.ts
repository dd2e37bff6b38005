/** Files that are shown in another form than their lines, in a browser: tables, notebooks, players, contents, line menus. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import { seedMember, seedProject } from '../../support/seed.ts';
import { settle } from '../../support/seed_merge_requests.ts';
import { type Web, openWeb, skip } from '../web.ts';

let web: Web;
let root: string;
let username: string;

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  const { id, full_path } = await seedProject(web.gantry, { visibility: 'public' });
  root = `/${full_path}/-`;
  username = await web.makeUser();
  const { body } = await web.gantry.api(`GET /users?username=${username}`);
  await seedMember(web.gantry, {
    user: (body as { id: number }[])[0]?.id ?? 0,
    project: id,
    access_level: 30,
  });
  const cells = [
    { cell_type: 'markdown', source: '# Levels\n\nOf the *river*.' },
    {
      cell_type: 'code',
      execution_count: 1,
      source: 'import pandas as pd\nprint(pd.__version__)',
      outputs: [
        { output_type: 'stream', text: '2.2.0\n' },
        { output_type: 'display_data', data: { 'image/png': png } },
        { output_type: 'error', traceback: ['ValueError: no data'] },
      ],
    },
  ];
  const columns = Array.from({ length: 12 }, (_column, at) => `column ${at}`).join(',');
  await seedCommit(web.gantry, id, {
    'a.csv': `${columns}\n${Array.from({ length: 12 }, (_cell, at) => at).join(',')}\n`,
    'n.ipynb': JSON.stringify({ metadata: {}, cells }),
    'a.mp3': 'x',
    'text.md': [
      '[[_TOC_]]',
      '## One',
      '> [!note]\n> A note.',
      '> [!tip]\n> A tip.',
      '> [!important]\n> It is.',
      '> [!warning] Mind the `gap`\n> A warning.',
      '> [!caution]\n> Hot.',
      '## Two',
      'A {+ new +} and an {- old -} word, $`a_1`$.',
      '### Three',
      '- [x] done\n- [~] not needed\n- [ ] open',
    ].join('\n\n'),
    'code.ts': 'const a = 1;\nconst b = `x`;\nconst c = 3;\n',
  });
  await settle(web.gantry);
});
after(async () => {
  if (skip === false) await web.close();
});

for (const colorScheme of ['light', 'dark'] as const)
  test(`files in other forms fit a phone, in ${colorScheme}`, { skip }, async () => {
    const viewport = { width: 375, height: 700 };
    await web.withPage(
      async (page) => {
        for (const path of ['a.csv', 'n.ipynb', 'text.md', 'a.mp3']) {
          await page.goto(`${root}/blob/main/${path}`);
          const width = await page.evaluate<number>('document.documentElement.scrollWidth');
          assert.ok(width <= viewport.width, `${path} ${width}`);
          await web.assertFine(page);
          const shots = process.env['SHOTS'];
          if (shots !== undefined)
            await page.screenshot({ path: `${shots}/${path}-${colorScheme}.png`, fullPage: true });
        }
        await page.goto(`${root}/blob/main/text.md`);
        await page.getByText('Contents', { exact: true }).click();
        await web.assertFine(page);
        await page.locator('.outline').getByRole('link', { name: 'Three' }).click();
        assert.match(page.url(), /#user-content-three$/);
      },
      { colorScheme, viewport },
    );
  });

test('marked lines have a permalink, their blame, and an issue that quotes them', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.waitForURL('**/');
    await page.goto(`${root}/blob/main/code.ts`);
    const menu = page.getByRole('group', { name: 'Marked lines' });
    assert.equal(await menu.isVisible(), false);
    await page.locator('#L1 a').click();
    await page.getByText('Line 1', { exact: true }).waitFor();
    await page.locator('#L2 a').click({ modifiers: ['Shift'] });
    await page.getByText('Lines 1–2', { exact: true }).waitFor();
    await web.assertFine(page);
    const permalink = await menu.getByRole('link', { name: 'Permalink' }).getAttribute('href');
    assert.match(permalink ?? '', /\/blob\/[0-9a-f]{40}\/code\.ts\?plain=1#L1-2$/);
    assert.match((await menu.getByRole('link', { name: 'Blame' }).getAttribute('href')) ?? '', /#L1-2$/);
    await menu.getByRole('link', { name: 'New issue' }).click();
    assert.equal(await page.getByLabel('Title').inputValue(), 'code.ts: lines 1–2');
    const description = await page.getByRole('textbox', { name: 'Description' }).inputValue();
    assert.ok(description.includes('```\nconst a = 1;\nconst b = `x`;\n```'), description);
    assert.ok(description.includes(permalink ?? '?'), description);
  });
});
