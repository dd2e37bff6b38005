import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedIssue, seedProject, seedUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { openCallWithoutRequest } from '../../../core/access/call_without_request.ts';
import { markdown, markdownTexts } from './markdown.ts';

let gantry: TestService;

before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

test('wraps the texts of a page', async () => {
  const { id } = await seedUser(gantry);
  const cause = { user: { id }, sudo_by_id: null };
  const call = await openCallWithoutRequest(gantry.service.platform, { cause, baseUrl: gantry.url });
  assert.ok(call !== null);
  const [a, b] = ['*a*', '<b onclick=x>b</b>'];
  const texts = ['<p dir="auto"><em>a</em></p>\n', '<p dir="auto"><b>b</b></p>\n'];
  const wrapped = texts.map((text) => `<div class="prose">${text}</div>`);
  assert.equal((await markdown(call, a)).text, wrapped[0]);
  assert.deepEqual(
    (await markdownTexts(call, [a, b])).map(({ text }) => text),
    wrapped,
  );
  assert.match(
    (await markdown(call, `*a*${'<b>'.repeat(350_000)}`)).text,
    /too long to be rendered.*<pre tabindex="0">\*a\*&lt;b&gt;/s,
  );
});

test('leaves most texts of a page with many comments to the worker thread', async () => {
  const { id, full_path: path } = await seedProject(gantry, { visibility: 'public' });
  const write = async (comments: string[]): Promise<() => Promise<string>> => {
    const { iid } = await seedIssue(gantry, { project: id });
    for (const body of comments) {
      const posted = await gantry.api(`POST /projects/${id}/issues/${iid}/notes`, { json: { body } });
      assert.equal(posted.status, 201);
    }
    return async () => await (await fetch(`${gantry.url}/${path}/-/issues/${iid}`)).text();
  };
  const readCpu = (): number[] => [process.threadCpuUsage().user, process.cpuUsage().user];
  await (
    await write(['short', '*long* '.repeat(1_000)])
  )();
  const text = '*a* <b>c</b> [d](e) '.repeat(150);
  const show = await write(Array.from({ length: 40 }, (_one, at) => `${at} ${text}`));
  const [ownBefore = 0, allBefore = 0] = readCpu();
  const page = await show();
  const [own = 0, all = 0] = readCpu();
  assert.equal(page.match(/<em>a<\/em>/g)?.length, 6_000);
  assert.ok(own - ownBefore < (all - allBefore) / 2, `${own - ownBefore} of ${all - allBefore}`);
});
