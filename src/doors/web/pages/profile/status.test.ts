/** Tests the form of a user's status, and the status on the profile. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

test('users set and clear their status, which others see', async () => {
  const { username, visitor } = await seedVisitor(gantry);
  const { visitor: other } = await seedVisitor(gantry);
  assert.doesNotMatch((await visitor.get('/profile')).text, /Clear status/);
  const status = { emoji: 'palm_tree', message: 'On <leave>', busy: '1', clear_status_after: '8_hours' };
  const bad: [Record<string, string>, RegExp][] = [
    [{ ...status, message: 'x'.repeat(101) }, /id="message_error"/],
    [{ ...status, emoji: 'no emoji' }, /id="emoji_error"[\s\S]+checked/],
    [{ ...status, clear_status_after: 'never' }, /id="clear_status_after_error"/],
  ];
  for (const [sent, said] of bad) {
    const { status: code, text } = await visitor.post('/profile/status', sent);
    assert.deepEqual([code, said.test(text)], [422, true], JSON.stringify(sent));
  }
  assert.equal((await visitor.post('/profile/status', status)).location, '/profile');
  const { body } = await gantry.api(`GET /users/${username}/status`);
  assert.deepEqual([body.emoji, body.message, body.availability], ['palm_tree', 'On <leave>', 'busy']);
  assert.ok(body.clear_status_at !== null);
  const own = await visitor.get('/profile');
  assert.match(own.text, /Your status is cleared[\s\S]+value="On &lt;leave&gt;"[\s\S]+value="palm_tree"/);
  assert.match(
    (await other.get(`/${username}`)).text,
    /🌴<\/span> On &lt;leave&gt; <span class="badge">Busy/,
  );
  assert.equal((await visitor.post('/profile/status', { message: '' })).location, '/profile');
  assert.doesNotMatch((await other.get(`/${username}`)).text, /leave|Busy/);
});
