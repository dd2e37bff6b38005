/** Two services on one PostgreSQL: attempts that are limited count together, whichever service receives them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestSmtp, startSmtp } from '../support/servers/smtp.ts';
import { until } from '../support/until.ts';
import { openVisitor } from '../support/visitor.ts';
import { type Place, type Running, call, engine, newPlace, startTogether } from './process.ts';

const skip = engine === 'sqlite' ? 'a file serves one process' : false;
const limits = { registrations: 300, signUps: 20, failures: 10, pipelines: 4, mails: 4 };

let place: Place;
let smtp: TestSmtp;
let services: Running[];
before(async () => {
  if (skip !== false) return;
  smtp = await startSmtp();
  place = newPlace();
  Object.assign(place.env, {
    GANTRY_PIPELINE_LIMIT: String(limits.pipelines),
    GANTRY_MAIL_LIMIT: String(limits.mails),
    GANTRY_SMTP_URL: smtp.url,
    GANTRY_MAIL_FROM: 'gantry@example.com',
  });
  services = await startTogether(place, 2);
});
after(async () => {
  if (skip !== false) return;
  await place.remove();
  await smtp.close();
});

const serviceAt = (at: number): Running => {
  const service = services[at % services.length];
  assert.ok(service !== undefined);
  return service;
};

const ok = async (at: number, line: string, json?: object) => {
  const { status, body } = await call(serviceAt(at).url, line, json);
  assert.ok(status < 300, `${line}: ${status} ${JSON.stringify(body)}`);
  return body;
};

/** Sends an attempt to each service in turn, as often as is allowed in all, then one more to each. */
const attemptOften = async (max: number, attempt: (service: Running, at: number) => Promise<number>) => {
  const allowed: number[] = [];
  for (let at = 0; at < max; at += 1) allowed.push(await attempt(serviceAt(at), at));
  const refused = [await attempt(serviceAt(0), max), await attempt(serviceAt(1), max + 1)];
  return { allowed: [...new Set(allowed)], refused };
};

test('failed sign-ins', { skip }, async () => {
  const visitors = services.map((service) => openVisitor(service));
  const signIn = async (_service: Running, at: number): Promise<number> => {
    const visitor = visitors[at % visitors.length];
    await visitor?.get('/users/sign_in');
    return (await visitor?.post('/users/sign_in', { login: 'root', password: 'wrong' }))?.status ?? 0;
  };
  assert.deepEqual(await attemptOften(limits.failures, signIn), { allowed: [422], refused: [429, 429] });
});

test('sign-ups', { skip }, async () => {
  const visitors = services.map((service) => openVisitor(service));
  const signUp = async (_service: Running, at: number): Promise<number> => {
    const visitor = visitors[at % visitors.length];
    await visitor?.get('/users/sign_up');
    const form = { name: 'A', username: `user-${at}`, email: 'not an address', password: 'correct horse' };
    return (await visitor?.post('/users/sign_up', form))?.status ?? 0;
  };
  assert.deepEqual(await attemptOften(limits.signUps, signUp), { allowed: [422], refused: [429, 429] });
});

test('registrations of runners', { skip }, async () => {
  const register = async (at: number): Promise<number> =>
    (await call(serviceAt(at).url, 'POST /runners', { token: 'guessed' })).status;
  const ofRegistrations = "where name like 'registration %'";
  assert.deepEqual([await register(0), await register(1)], [403, 403]);
  const [count] = await place.query(`select failures from sign_in_failures ${ofRegistrations}`);
  assert.equal(Number(count?.['failures']), 2);
  // As many as are sent within a minute on a fast machine.
  const last = limits.registrations - 1;
  await place.change(
    `update sign_in_failures set failures = ${last}, first_at = ${Date.now()} ${ofRegistrations}`,
  );
  assert.deepEqual([await register(0), await register(0), await register(1)], [403, 429, 429]);
});

test('pipelines of a commit', { skip }, async () => {
  const { id } = await ok(0, 'POST /projects', { name: 'built' });
  await ok(0, `POST /projects/${id}/repository/files/.gitlab-ci.yml`, {
    branch: 'main',
    content: 'a: { script: x, when: manual }',
    commit_message: 'Build [ci skip]',
  });
  const create = async ({ url }: Running): Promise<number> =>
    (await call(url, `POST /projects/${id}/pipeline`, { ref: 'main' })).status;
  // The pipeline that the commit skipped counts, too.
  const expected = { allowed: [201], refused: [400, 400] };
  assert.deepEqual(await attemptOften(limits.pipelines - 1, create), expected);
});

test('mails to a user', { skip }, async () => {
  const email = 'reader@example.com';
  await ok(0, 'POST /users', { username: 'reader', name: 'Reader', email, password: 'correct horse' });
  const { id } = await ok(0, 'POST /projects', { name: 'mailed', visibility: 'public' });
  smtp.clear();
  const issues = 3 * limits.mails;
  for (let at = 0; at < issues; at += 1)
    await ok(at, `POST /projects/${id}/issues`, { title: `Issue ${at}`, description: '@reader' });
  // Those beyond the limit are due when the first ones are a minute old.
  const state = `select count(*) as held from mails where state = 'pending' and next_attempt_at > created_at`;
  await until('the others wait', async () => {
    const [row] = await place.query(state);
    return smtp.received.length + Number(row?.['held']) >= limits.mails && Number(row?.['held']) > 0;
  });
  assert.ok(smtp.received.length <= limits.mails, `${smtp.received.length} mails`);
});
