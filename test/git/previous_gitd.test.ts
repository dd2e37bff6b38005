/** A gitd of the previous build, which lacks a method, while services are upgraded before it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { methods } from '../../gitd/methods.ts';
import { listen } from '../../gitd/rpc/server.ts';
import { streams } from '../../gitd/streams.ts';
import { readTag } from '../../src/outgoing/payloads/push.ts';
import { openGit } from '../../src/platform/git/storages.ts';
import { startTestStorage } from '../support/repositories/repository_storage.ts';

const host = '127.0.0.1';
const secret = 's'.repeat(32);

test('tags of webhooks are read from their ref where gitd cannot read them by id', async () => {
  const storage = await startTestStorage();
  const { name, context, commitAll, git } = storage.repository();
  const [commit] = await commitAll({ a: '1' });
  await git('tag', '--annotate', '--message', 'First', 'v1', 'main');
  const id = (await git('rev-parse', 'v1')).trim();
  const { 'tags.get': _, ...previous } = methods;
  const { owner } = context;
  const gitd = await listen({ storage: context, secret, methods: previous, streams }, { host, port: 0 });
  const storages = openGit({
    storages: [{ name: 'default', path: null, address: { host, port: gitd.port } }],
    data: '/nowhere',
    secret,
    ca: null,
    instance: owner.instance ?? '',
    random: randomBytes,
    log: () => undefined,
  });
  const repository = storages.repository({
    id: 1,
    repository_storage: 'default',
    repository_path: name,
    repository_written: 1,
  });
  const tag = await readTag(repository, { ref: 'refs/tags/v1', after: id });
  assert.deepEqual([tag?.message, tag?.commit], ['First\n', commit]);
  assert.equal(await readTag(repository, { ref: 'refs/tags/v1', after: commit ?? '' }), null);
  await storages.stop();
  await gitd.stop();
  await storage.stop();
});
