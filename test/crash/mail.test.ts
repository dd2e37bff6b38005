/** Mails survive kill -9 between commit and sending, and outages of the mail server: none is lost. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { times } from '../support/run/sample.ts';
import { type TestSmtp, startSmtp } from '../support/servers/smtp.ts';
import { untilEmpty } from './git_operations.ts';
import { type Place, call, newPlace } from './process.ts';

let place: Place;
let smtp: TestSmtp;
before(async () => {
  place = newPlace();
  smtp = await startSmtp();
});
after(async () => {
  await smtp.close();
  await place.remove();
});

const kills = times(20, 3);

it(`mails every change through ${kills} kills`, async () => {
  const env = { GANTRY_SMTP_URL: smtp.url, GANTRY_MAIL_FROM: 'gantry@example.com' };
  let service = await place.start({ env });
  const ok = async (line: string, json: object) => {
    const { status, body } = await call(service.url, line, json);
    assert.ok(status < 300, `${line}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const reader = {
    username: 'reader',
    name: 'Reader',
    email: 'reader@example.com',
    password: 'correct horse',
  };
  await ok('POST /users', reader);
  const { id } = await ok('POST /projects', { name: 'mailed', visibility: 'public' });
  for (let kill = 1; kill <= kills; kill += 1) {
    await ok(`POST /projects/${id}/issues`, { title: `Issue ${kill}`, description: '@reader' });
    service.signal('SIGKILL'); // committed, and perhaps not sent
    await service.exit;
    service = await place.start({ env });
  }
  await untilEmpty(place, 'mails', `select id, attempts from mails where state = 'pending'`);
  await untilEmpty(
    place,
    'work',
    `select id, attempts from work where name like 'mail.%' and name <> 'mail.due_issues'`,
  );
  await untilEmpty(place, 'mails', `select id, attempts from mails where state = 'pending'`);
  const byId = new Map(smtp.received.map((mail) => [mail.header('message-id'), mail.subject]));
  assert.deepEqual(
    [...byId.values()].toSorted(),
    Array.from({ length: kills }, (_one, at) => `mailed | Issue ${at + 1} (#${at + 1})`).toSorted(),
  );
});
