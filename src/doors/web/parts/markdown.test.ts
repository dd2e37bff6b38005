import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedUser } from '../../../../test/support/seed.ts';
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
