/** Messages that hooks with the format of a chat send. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type HookReceiver, startHookReceiver } from '../../../../test/support/servers/hook_receiver.ts';
import { seedProject } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { describePayload } from './describe.ts';
import { renderMessage } from './render.ts';

const file = join(import.meta.dirname, '../../../../docs/webhook_payloads.json');
const payloads = JSON.parse(readFileSync(file, 'utf8')) as Record<string, { payload: object }>;

const slack = (payload: object): { text: string; attachments?: { text: string }[] } =>
  JSON.parse(renderMessage('slack', describePayload(payload))) as { text: string };

const cardTexts = (payload: object): string[] => {
  // oxlint-disable-next-line typescript/no-explicit-any -- the test inspects it
  const body: any = JSON.parse(renderMessage('microsoft_teams', describePayload(payload)));
  assert.equal(body.attachments[0].contentType, 'application/vnd.microsoft.card.adaptive');
  return body.attachments[0].content.body.map(({ text }: { text: string }) => text);
};

describe('each payload', () => {
  for (const [name, { payload }] of Object.entries(payloads))
    it(`has a message: ${name}`, () => {
      const { text, attachments = [] } = slack(payload);
      const all = [text, ...attachments.map((one) => one.text), ...cardTexts(payload)];
      for (const one of all) {
        assert.doesNotMatch(one, /undefined|null|\[object/);
        assert.ok(one.trim().length > 3, one);
      }
    });
});

describe('a message', () => {
  const textOf = (name: string): string => slack(payloads[name]?.payload ?? {}).text;
  const place = '<https://gantry.example.com/tools/bridge|tools/bridge>';

  it('a chat message says who did what', () => {
    const commits = 'https://gantry.example.com/tools/bridge/-/commits/main';
    assert.equal(textOf('push'), `Administrator pushed to branch <${commits}|main> in ${place} (1 commit)`);
    assert.equal(textOf('push: deleted branch'), `Administrator deleted branch topic in ${place}`);
    assert.match(
      textOf('issue: confidential'),
      /^Administrator opened confidential issue <\S+\|#2 A weakness>/,
    );
    assert.match(textOf('merge_request: merge'), /^Administrator merged merge request <\S+\|!1 Add rails>/);
    assert.match(textOf('note: on a snippet'), /^Administrator commented on <\S+\|snippet \$1 Knot> in /);
    assert.match(textOf('pipeline: success'), /^<\S+\|Pipeline #1> of main in \S+: success$/);
    assert.equal(textOf('user_create'), 'User create: grace');
  });

  it('texts of users cannot forge a chat message', () => {
    const issue = { iid: 1, title: '<!channel> a|b> *x*', url: 'https://x.example/a|b>(c)', action: 'open' };
    const payload = { object_kind: 'issue', object_attributes: issue, user: { name: '<@U1> [a](b)' } };
    assert.equal(
      slack(payload).text,
      '&lt;@U1&gt; [a](b) opened issue <https://x.example/a%7Cb%3E%28c%29|#1 &lt;!channel&gt; a¦b&gt; *x*>',
    );
    const [title] = cardTexts(payload);
    assert.equal(
      title?.startsWith(String.raw`\<@U1\> \[a\]\(b\) opened issue [\#1 \<\!channel\>`),
      true,
      title ?? '',
    );
  });

  it('white space in a URL stays the same character', () => {
    const issue = { iid: 1, title: 'x', url: 'https://x.example/a b\u00a0c\u2003d', action: 'open' };
    const payload = { object_kind: 'issue', object_attributes: issue, user: { name: 'Ada' } };
    const url = 'https://x.example/a%20b%C2%A0c%E2%80%83d';
    assert.equal(slack(payload).text, `Ada opened issue <${url}|#1 x>`);
    assert.ok(cardTexts(payload)[0]?.endsWith(`(${url})`));
  });
});

describe('a hook with a format', () => {
  let gantry: TestService;
  let receiver: HookReceiver;
  before(async () => {
    [gantry, receiver] = await Promise.all([startTestService(), startHookReceiver()]);
    const json = { allow_local_requests_from_hooks_and_services: true };
    await gantry.api('PUT /application/settings', { json });
  });
  after(async () => {
    await gantry.close();
    await receiver.close();
  });

  it('a hook with a chat format sends messages', async () => {
    const project = `/projects/${(await seedProject(gantry)).id}`;
    for (const format of ['slack', 'microsoft_teams', 'json']) {
      const json = { url: `${receiver.url}/${format}`, issues_events: true, format };
      const made = await gantry.api(`POST ${project}/hooks`, { json });
      assert.deepEqual([made.status, made.body.format], [201, format]);
    }
    await gantry.api(`POST ${project}/issues`, { json: { title: 'One' } });
    await gantry.service.worker.drain();
    const bodies = new Map(receiver.received.map(({ path, body }) => [path, body]));
    assert.match(bodies.get('/slack').text, /opened issue <http\S+\|#1 One>/);
    assert.equal(bodies.get('/microsoft_teams').type, 'message');
    assert.equal(bodies.get('/json').object_kind, 'issue');
    const wrong = { url: receiver.url, format: 'irc' };
    assert.equal((await gantry.api(`POST ${project}/hooks`, { json: wrong })).status, 400);
  });
});
