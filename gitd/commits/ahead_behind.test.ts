import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type TestStorage, startTestStorage } from '../../test/support/repositories/repository_storage.ts';

let test: TestStorage;
before(async () => void (test = await startTestStorage()));
after(async () => await test.stop());

const person = { name: 'Ada', email: 'ada@example.com', time: 1_500_000_000, offset: '+0000' };

it('counts the commits of each side, and none for what is missing or out of time', async () => {
  const { ask } = test.repository();
  await ask('repository.create', {});
  const commit = async (parent: string | null, file_path: string): Promise<string> => {
    const actions = [{ action: 'create' as const, file_path, content: { offset: 0, length: 1 } }];
    const made = await ask(
      'commit.actions',
      { parent, actions, message: file_path, author: person, committer: person },
      Buffer.from('x'),
    );
    if (!('id' in made)) throw new Error(made.problem);
    return made.id;
  };
  const root = await commit(null, 'a');
  const base = await commit(await commit(root, 'b'), 'c');
  const topic = await commit(root, 'd');
  const unrelated = await commit(null, 'z');
  const missing = '1'.repeat(40);
  const ids = [base, topic, root, unrelated, missing, topic];
  const { counts } = await ask('commits.ahead_behind', { base, ids, milliseconds: 10_000 });
  const ofTopic = { ahead: 1, behind: 2 };
  assert.deepEqual(counts, [
    { ahead: 0, behind: 0 },
    ofTopic,
    { ahead: 0, behind: 2 },
    { ahead: 1, behind: 3 },
    null,
    ofTopic,
  ]);
  const late = await ask('commits.ahead_behind', { base: topic, ids: [base, topic], milliseconds: 0 });
  assert.deepEqual(late.counts, [null, null]);
  const cached = await ask('commits.ahead_behind', { base, ids: [topic], milliseconds: 0 });
  assert.deepEqual(cached.counts, [ofTopic]);
  await assert.rejects(ask('commits.ahead_behind', { base: 'x', ids: [], milliseconds: 1 }), {
    kind: 'invalid',
  });
});

it('compares with a commit of another repository of the storage', async () => {
  const [upstream, fork] = [test.repository(), test.repository()];
  const commit = async ({ ask }: typeof fork, parent: string | null, file_path: string): Promise<string> => {
    const actions = [{ action: 'create' as const, file_path, content: { offset: 0, length: 1 } }];
    const made = await ask(
      'commit.actions',
      { parent, actions, message: file_path, author: person, committer: person },
      Buffer.from('x'),
    );
    if (!('id' in made)) throw new Error(made.problem);
    return made.id;
  };
  for (const { ask } of [upstream, fork]) await ask('repository.create', {});
  const shared = await commit(upstream, null, 'a');
  assert.equal(await commit(fork, null, 'a'), shared);
  const base = await commit(upstream, await commit(upstream, shared, 'b'), 'c');
  const own = await commit(fork, shared, 'd');
  const params = { base, ids: [own], milliseconds: 10_000 };
  assert.deepEqual((await fork.ask('commits.ahead_behind', params)).counts, [null]);
  const across = await fork.ask('commits.ahead_behind', { ...params, source: upstream.name });
  assert.deepEqual(across.counts, [{ ahead: 1, behind: 2 }]);
  await assert.rejects(fork.ask('commits.ahead_behind', { ...params, source: '../other.git' }), {
    kind: 'invalid',
  });
});
