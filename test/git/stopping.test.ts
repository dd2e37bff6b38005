/** A stop waits for pushes: in the service over SSH, and in a remote gitd. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, test } from 'node:test';
import ssh2 from 'ssh2';
import { type Place, type Running, newPlace } from '../cli/gantry.ts';
import { freePort } from '../support/servers/free_port.ts';
import { until } from '../support/until.ts';

let places: Place[] = [];
afterEach(async () => {
  await Promise.all(places.map((place) => place.remove()));
  places = [];
});
const fresh = (): Place => {
  const place = newPlace();
  places.push(place);
  return place;
};

const token = 'token-of-the-first-start';

const startService = async (env: Record<string, string>) => {
  const port = await freePort();
  const listen = { GANTRY_ROOT_TOKEN: token, GANTRY_SSH_LISTEN: `127.0.0.1:${port}` };
  return { port, running: await fresh().serve('serve', { env: { ...listen, ...env } }) };
};

const headersOf = { 'private-token': token, 'content-type': 'application/json' };

const post = async ({ url }: Running, path: string, body: object): Promise<void> => {
  const response = await fetch(`${url}/api/v4${path}`, {
    method: 'POST',
    headers: headersOf,
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 201, await response.text());
};

/** A push over SSH that has been greeted by the repository and has sent nothing yet. */
const beginPush = async ({ port, running }: { port: number; running: Running }) => {
  const pair = ssh2.utils.generateKeyPairSync('ed25519', { comment: 'test@example.com' });
  await post(running, '/user/keys', { title: 'test', key: pair.public });
  await post(running, '/projects', { name: 'p', initialize_with_readme: true });
  const client = new ssh2.Client();
  client.on('error', () => undefined);
  client.connect({ host: '127.0.0.1', port, username: 'git', privateKey: pair.private });
  await once(client, 'ready');
  const { promise, resolve, reject } = Promise.withResolvers<ssh2.ClientChannel>();
  client.exec("git-receive-pack 'root/p.git'", (error, opened) => {
    if (error === undefined) resolve(opened);
    else reject(error);
  });
  const channel = await promise;
  const exit = new Promise<number | null>((done) => {
    channel.once('exit', (code: number | null) => done(code));
    channel.once('close', () => done(null));
  });
  await once(channel, 'data');
  let output = '';
  channel.on('data', (chunk: Buffer) => void (output += chunk.toString('latin1')));
  return {
    output: () => output,
    /** Sends a push, by default an empty one; returns the status of the command, null if the connection was cut. */
    finish: async (bytes: string | Buffer = '0000'): Promise<number | null> => {
      channel.end(bytes);
      const code = await exit;
      client.end();
      return code;
    },
  };
};

test('waits in the service for a push over SSH', async () => {
  const service = await startService({});
  const push = await beginPush(service);
  service.running.child.kill('SIGTERM');
  await until('the service stops', () => service.running.stdout().includes('"stopping"'));
  await assert.rejects(fetch(service.running.url), 'a new connection is refused');
  assert.equal(await push.finish(), 0);
  const { code, stdout } = await service.running.end();
  assert.equal(code, 0);
  assert.doesNotMatch(stdout, /cut/);
});

const startGitd = async (): Promise<{ gitd: Running; env: Record<string, string> }> => {
  const place = fresh();
  const port = await freePort();
  const secret = { GANTRY_GITD_SECRET: 'a-secret-that-only-these-two-ever-know' };
  const line = `gitd --listen 127.0.0.1:${port} --root ${place.data}`;
  const gitd = await place.serve(line, { env: secret });
  return { gitd, env: { ...secret, GANTRY_REPOSITORY_STORAGES: `default=tcp://127.0.0.1:${port}` } };
};

test('waits in gitd for a push and starts no other; a second signal ends it at once', async () => {
  for (const signals of [1, 2]) {
    const { gitd, env } = await startGitd();
    const service = await startService(env);
    const push = await beginPush(service);
    gitd.child.kill('SIGTERM');
    await until('gitd drains', () => gitd.stderr().includes('draining'));
    if (signals === 2) gitd.child.kill('SIGTERM');
    else assert.equal(await push.finish(), 0);
    assert.equal((await gitd.end()).code, 0);
    if (signals === 2) assert.notEqual(await push.finish(), 0);
  }
});

const line = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text;

/** The bytes of a push that creates a branch at a commit of the repository, with a push option. */
const branchPush = (branch: string, commit: string): Buffer => {
  const update = `${'0'.repeat(40)} ${commit} refs/heads/${branch}\0report-status push-options`;
  const pack = Buffer.concat([Buffer.from('PACK'), Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])]);
  const end = Buffer.from(hash('sha1', pack), 'hex');
  return Buffer.concat([
    Buffer.from(`${line(update)}0000${line('merge_request.create')}0000`, 'latin1'),
    pack,
    end,
  ]);
};

test('finishes a push that creates a branch, and does not wait for the next gitd', async () => {
  const { gitd, env } = await startGitd();
  const service = await startService(env);
  const push = await beginPush(service);
  const url = `${service.running.url}/api/v4/projects/root%2Fp/repository/branches/main`;
  const main = (await (await fetch(url, { headers: headersOf })).json()) as { commit: { id: string } };
  gitd.child.kill('SIGTERM');
  await until('gitd drains', () => gitd.stderr().includes('draining'));
  assert.equal(await push.finish(branchPush('more', main.commit.id)), 0);
  assert.match(push.output(), /ok refs\/heads\/more/);
  assert.equal((await gitd.end()).code, 0);
});
