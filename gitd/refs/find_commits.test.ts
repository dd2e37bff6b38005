import { after, before, it } from 'node:test';
import assert from 'node:assert/strict';
import { type TestStorage, startTestStorage } from '../../test/support/repositories/repository_storage.ts';

let test: TestStorage;
before(async () => void (test = await startTestStorage()));
after(async () => await test.stop());

it('finds the commits of whole and short ids that the caller may see', async () => {
  const { commitAll, ask, git: run } = test.repository();
  const [first = '', second = '', third = '', fourth = '', fifth = ''] = await commitAll(
    { a: '1' },
    { a: '2' },
    { a: '3' },
    { a: '4' },
    { a: '5' },
  );
  await run('tag', '-a', 'v1', '-m', 'x', first);
  const tag = await run('rev-parse', 'refs/tags/v1');
  const tree = await run('rev-parse', `${first}^{tree}`);
  await run('update-ref', 'refs/heads/main', second);
  await run('update-ref', 'refs/merge-requests/1/head', third);
  await run('update-ref', `refs/keep-around/${fourth}`, fourth);
  const find = async (ids: string[], sight: object = { reachable: true }): Promise<(string | null)[]> =>
    (await ask('commits.find', { ids, ...sight })).commits.map((commit) => commit?.id ?? null);
  const short = (id: string): string => id.slice(0, 8);
  const all = [first, second, third, fourth, fifth];
  assert.deepEqual(await find(all), [first, second, third, fourth, null]);
  assert.deepEqual(await find(all.map(short)), [first, second, third, null, null]);
  assert.deepEqual(await find(all, { reachable: true, hide_requests: true }), [
    first,
    second,
    null,
    null,
    null,
  ]);
  assert.deepEqual(await find(all, {}), all);
  assert.deepEqual(
    await find([tag, short(tag), tree, 'f'.repeat(40), 'ffffffff', 'HEAD', '--all', `${first}^`]),
    Array.from({ length: 8 }, () => null),
  );
  await run('update-ref', 'refs/heads/main', first);
  await run('update-ref', '-d', 'refs/merge-requests/1/head');
});

it('forgets what was reachable when a ref changes, and finds nothing in an empty repository', async () => {
  const { commitAll, ask } = test.repository();
  assert.deepEqual(await ask('commits.find', { ids: ['a'.repeat(40)] }), { commits: [null] });
  const [first = '', second = ''] = await commitAll({ a: '1' }, { a: '2' });
  const find = async (): Promise<string[]> =>
    (await ask('commits.find', { ids: [second], reachable: true })).commits.map(
      (commit) => commit?.message ?? '',
    );
  const [message] = await find();
  assert.notEqual(message, '');
  await ask('refs.update', { updates: [{ ref: 'refs/heads/main', old: second, new: first }] });
  assert.deepEqual(await find(), ['']);
});
