/** The SMTP server: signing in, TLS, and what is never logged. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startMailingService } from '../../../test/support/mail.ts';
import { startSmtp } from '../../../test/support/servers/smtp.ts';
import { seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { startTestService } from '../../../test/support/service.ts';
import { readConfig } from '../../platform/config/read_config.ts';
import { readServer } from './smtp.ts';

const from = { GANTRY_MAIL_FROM: 'Gantry <gantry@example.com>' };

describe('the SMTP server', () => {
  it('gets user and password, which no log line and no mail contains', async () => {
    const smtp = await startSmtp({ user: 'gantry', password: 'pass:w@rd' });
    const gantry = await startTestService({
      ...from,
      GANTRY_SMTP_URL: smtp.url.replace('pass%3Aw%40rd', 'wr%40ng'),
      GANTRY_LOG_LEVEL: 'trace',
    });
    try {
      const user = await seedUser(gantry);
      const { id } = await seedProject(gantry);
      const json = { title: 'x', description: `@${user.username}` };
      await gantry.api(`POST /projects/${id}/issues`, { json });
      await gantry.service.worker.drain();
      assert.deepEqual(smtp.signIns[0], ['gantry', 'wr@ng']);
      assert.deepEqual(smtp.received, []);
      const mails = await gantry.service.platform.store.db.selectFrom('mails').selectAll().execute();
      assert.deepEqual([mails[0]?.state, mails[0]?.attempts], ['pending', 1]);
      const kept = `${gantry.logged().join('\n')} ${JSON.stringify(mails)}`;
      assert.match(kept, /could not send a mail/);
      assert.doesNotMatch(kept, /wr(?:@|%40)ng/);
    } finally {
      await gantry.close();
      await smtp.close();
    }
  });

  it('must use TLS for a password, unless it is this machine', () => {
    const modes = (url: string) => {
      const { secure, requireTLS, ignoreTLS, port } = readServer(url);
      return [secure, requireTLS, ignoreTLS, port];
    };
    assert.deepEqual(modes('smtp://u:p@mail.example.com'), [false, true, false, 587]);
    assert.deepEqual(modes('smtp://mail.example.com:25'), [false, false, false, 25]);
    assert.deepEqual(modes('smtp://u:p@127.0.0.1'), [false, false, false, 587]);
    assert.deepEqual(modes('smtps://u:p@mail.example.com'), [true, true, false, 465]);
    assert.deepEqual(modes('smtp://u:p@mail.example.com?tls=off'), [false, false, true, 587]);
  });

  it('the configuration of mail needs a sender and the address of a server', () => {
    const read = (environment: Record<string, string>) => () => readConfig({}, environment);
    const url = 'smtp://u:secret@mail.example.com';
    assert.throws(read({ GANTRY_SMTP_URL: url }), /GANTRY_MAIL_FROM is needed/);
    assert.throws(read({ GANTRY_CONFIRM_ADDRESSES: 'true' }), /GANTRY_SMTP_URL is needed/);
    for (const wrong of ['http://mail.example.com', `${url}?logger=true`, `${url}?tls=perhaps`])
      assert.throws(read({ ...from, GANTRY_SMTP_URL: wrong }), (error: Error) => {
        assert.match(error.message, /^GANTRY_SMTP_URL must/);
        return !error.message.includes('secret');
      });
    for (const wrong of ['nobody', 'x\r\nBcc: v@example.com <a@b>'])
      assert.throws(read({ GANTRY_SMTP_URL: url, GANTRY_MAIL_FROM: wrong }), /GANTRY_MAIL_FROM must be/);
    assert.equal(readConfig({}, { GANTRY_SMTP_URL: url, ...from }).config.smtp_url, url);
  });
});

describe('the address for answers', () => {
  it('names the record and the user, if it has a place for them', async () => {
    const gantry = await startMailingService({ GANTRY_MAIL_REPLY_TO: 'Bridge <answers+%{key}@example.com>' });
    try {
      const [author, first, second] = [
        await seedUser(gantry),
        await seedUser(gantry),
        await seedUser(gantry),
      ];
      const { id } = await seedProject(gantry);
      for (const { id: user } of [first, second])
        await seedMember(gantry, { user, project: id, access_level: 30 });
      const send = async (line: string, json: object) => {
        const { status, body, text } = await gantry.api(line, { json });
        assert.ok(status < 300, text);
        return body;
      };
      const as = { as: author.token };
      const description = `@${first.username} @${second.username}`;
      const issue = await gantry.api(`POST /projects/${id}/issues`, {
        json: { title: 'x', description },
        ...as,
      });
      await gantry.api(`POST /projects/${id}/issues/1/notes`, { json: { body: 'y' }, ...as });
      const addresses = async (user: { username: string }): Promise<(string | undefined)[]> =>
        (await gantry.mailsTo(user)).map(({ header }) => header('reply-to'));
      const [own, ofNote] = await addresses(first);
      const key = new RegExp(
        `^Bridge <answers\\+i-${issue.body.id}-${first.id}-[0-9a-f]{24}@example\\.com>$`,
      );
      assert.match(own ?? '', key);
      assert.equal(ofNote, own);
      const [other] = await addresses(second);
      assert.equal(other?.includes(`i-${issue.body.id}-${second.id}-`), true);
      assert.notEqual(other?.slice(-37), own?.slice(-37));
      gantry.smtp.clear();
      await send(`PUT /projects/${id}`, { path: 'moved' });
      assert.deepEqual(await addresses(first), [undefined]);
    } finally {
      await gantry.close();
    }
  });
});
