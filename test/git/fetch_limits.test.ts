/** Limits on concurrent fetches of one user or address. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { openAnyStore } from '../../src/app/service/open_database.ts';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { repositoryUrl, tryGit } from '../support/repositories/git.ts';
import { seedMember, seedProject, seedUser } from '../support/seed.ts';
import { type TestService, startTestService } from '../support/service.ts';

const isPostgres = process.env['GANTRY_TEST_DATABASE_URL'] !== undefined;

let gantry: TestService;
before(async () => {
  gantry = await startTestService({ GANTRY_FETCH_LIMIT: '1' });
});
after(async () => await gantry.close());

const headers = (token: string) => ({
  authorization: `Basic ${Buffer.from(`oauth2:${token}`).toString('base64')}`,
  'content-type': 'application/x-git-upload-pack-request',
  'git-protocol': 'version=2',
});

/** Starts a fetch that stays open until it is ended, unless it is answered before. */
const hanging = (path: string, token: string) => {
  const sent = request(`${gantry.url}/${path}.git/git-upload-pack`, {
    method: 'POST',
    headers: headers(token),
  });
  const answer = new Promise<string>((resolve) => {
    sent.on('response', (response) => void text(response).then(resolve, () => undefined));
  });
  sent.on('error', () => undefined);
  sent.write('0014command=ls-refs\n');
  return { answer, end: () => void sent.destroy() };
};

test('queues fetches of one user, refuses too many with a message, and lets other users through', async () => {
  const project = await seedProject(gantry, { visibility: 'private' });
  await seedCommit(gantry, project.id, { 'a.txt': 'a\n' });
  const [greedy, other] = [await seedUser(gantry), await seedUser(gantry)];
  for (const user of [greedy, other])
    await seedMember(gantry, { user: user.id, project: project.id, access_level: 20 });
  const list = async ({ token }: { token: string }) =>
    await tryGit('/', ['ls-remote', repositoryUrl(gantry.url, project.full_path, token)]);
  const patient = await Promise.all(Array.from({ length: 5 }, async () => await list(greedy)));
  assert.deepEqual(new Set(patient.map(({ code }) => code)), new Set([0]));

  // One fetch has the place, ten wait, and one of twelve is refused.
  const open = Array.from({ length: 12 }, () => hanging(project.full_path, greedy.token));
  assert.match(await Promise.race(open.map(({ answer }) => answer)), /^[0-9a-f]{4}ERR You have too many/);
  const refused = await list(greedy);
  assert.equal(refused.code, 128);
  assert.match(refused.stderr, /remote error: You have too many concurrent fetches/);
  assert.equal((await list(other)).code, 0);
  for (const { end } of open) end();
  assert.equal((await list(greedy)).code, 0, 'who leaves makes place');
});

test(
  'counts fetches of a user in all services',
  { skip: !isPostgres && 'one process serves a file' },
  async () => {
    const project = await seedProject(gantry, { visibility: 'private' });
    await seedCommit(gantry, project.id, { 'a.txt': 'a\n' });
    const [user, other] = [await seedUser(gantry), await seedUser(gantry)];
    for (const { id } of [user, other])
      await seedMember(gantry, { user: id, project: project.id, access_level: 20 });
    const list = async ({ token }: { token: string }) =>
      await tryGit('/', ['ls-remote', repositoryUrl(gantry.url, project.full_path, token)]);
    const { config, clock, store: ours } = gantry.service.platform;
    const store = await openAnyStore({ config, clock, onFatal: () => undefined });
    const leave = await store.takePlace(`fetch user ${user.id}`, 1);
    assert.ok(leave !== null);
    let isDone = false;
    const waiting = list(user).then(({ code }) => {
      isDone = true;
      return code;
    });
    assert.equal((await list(other)).code, 0);
    assert.equal(isDone, false, 'the place is taken in another service');
    assert.equal(await ours.takePlace(`fetch user ${user.id}`, 1), null);
    leave();
    assert.equal(await waiting, 0);
    await store.close();
  },
);
