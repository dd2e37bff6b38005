/** Tests which checks of wanted commits start processes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type TestRepository, useStorage } from '../../test/support/repositories/repository_storage.ts';
import type { Context } from '../handler_types.ts';
import { findForbiddenWant } from './check_wants.ts';
import { raiseGeneration } from './ref_generation.ts';

const storage = useStorage();

const hidden = { requests: false, pipelines: true };

/** A context that notes the commands that it runs, other than reads of refs, and those that are still running. */
const countRuns = ({ context }: TestRepository) => {
  const commands: string[] = [];
  const running = new Set<Promise<unknown>>();
  const run: Context['exec']['run'] = async (options) => {
    if (options.command !== 'for-each-ref') commands.push(options.command);
    const work = context.exec.run(options);
    running.add(work);
    return await work.finally(() => running.delete(work));
  };
  const settle = async (): Promise<void> => {
    await Promise.allSettled(running);
    await turn();
  };
  return { commands, settle, context: { ...context, exec: { ...context.exec, run } } };
};

test('commits that are no tips are walked for once, and others of the same refs not at all', async () => {
  const repository = storage.repository();
  const files = Array.from({ length: 6 }, (_none, at) => ({ 'a.txt': String(at) }));
  const ids = await repository.commitAll(...files);
  const { commands, settle, context } = countRuns(repository);
  const isForbidden = async (at: number): Promise<boolean> => {
    const wants = [ids[at] ?? ''];
    return (await findForbiddenWant(context, wants, hidden)) !== null;
  };
  assert.equal(await isForbidden(5), false);
  assert.deepEqual(commands, []);
  assert.deepEqual([await isForbidden(0), await isForbidden(0)], [false, false]);
  assert.deepEqual(commands.splice(0), ['rev-list']);
  assert.equal(await isForbidden(1), false);
  await settle();
  assert.deepEqual(commands.splice(0), ['rev-list', 'rev-list']);
  for (const at of [0, 1, 2, 3, 4]) assert.equal(await isForbidden(at), false);
  assert.deepEqual(commands, []);
});

test('a commit that a changed ref no longer reaches is refused, and so is one that is missing', async () => {
  const repository = storage.repository();
  const [first = '', second = '', third = ''] = await repository.commitAll(
    { a: '1' },
    { a: '2' },
    { a: '3' },
  );
  const { settle, context } = countRuns(repository);
  for (const want of [second, first, second]) {
    assert.equal(await findForbiddenWant(context, [want], hidden), null);
    await settle();
  }
  await repository.git('update-ref', 'refs/heads/main', first);
  raiseGeneration(repository.dir);
  assert.equal(await findForbiddenWant(context, [third, second], hidden), third);
  assert.equal(await findForbiddenWant(context, [second], hidden), second);
  assert.equal(await findForbiddenWant(context, [first], hidden), null);
  assert.equal(await findForbiddenWant(context, ['1'.repeat(40)], hidden), '1'.repeat(40));
});
