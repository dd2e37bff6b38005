/** Threads for what strangers wrote: they answer, ask, and are ended where they take too much. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Program } from './program.ts';
import { TooMuch, runApart } from './threads.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-apart-'));
});
after(async () => await rm(folder, { recursive: true }));

/** @param body with `task` and `ask` */
const program = async (name: string, body: string, limits: Partial<Program> = {}): Promise<Program> => {
  const path = join(folder, `${name}.ts`);
  const serve = join(import.meta.dirname, 'serve_tasks.ts');
  await writeFile(
    path,
    `import { serveTasks } from ${JSON.stringify(serve)};
     serveTasks(async (task: any, ask) => { ${body} });`,
  );
  return { path, longest: 60_000, memory: 64, ...limits };
};

const echo = 'return task;';

test('a task is answered, one after another, as it was asked', async () => {
  const path = await program('echo', echo);
  const tasks = [1, 'two', { three: [3n] }, null];
  const results = await Promise.all(tasks.map(async (task) => await runApart(path, { owner: 'me', task })));
  assert.deepEqual(results, tasks);
});

test('a thread asks who gave the task, several things at once', async () => {
  const path = await program('asks', 'return await Promise.all([ask(task), ask(task + 1)]);');
  const answer = async (question: unknown): Promise<number> => Number(question) * 10;
  assert.deepEqual(await runApart(path, { owner: 'me', task: 1, answer }), [10, 20]);
});

test('what cannot be answered ends the task, with the same error', async () => {
  const path = await program('refused', `return task === 'ask' ? await ask(task) : task;`);
  const why = new Error('not for you');
  const answer = async (): Promise<never> => await Promise.reject(why);
  await assert.rejects(runApart(path, { owner: 'me', task: 'ask', answer }), why);
  assert.equal(await runApart(path, { owner: 'me', task: 'more' }), 'more');
});

test('one that never ends, and one that takes all memory, are ended; those behind them are done', async () => {
  const body = `if (task === 'loop') for (;;);
    if (task === 'eat') { const all = []; for (;;) all.push(new Array(100_000).fill(all.length)); }
    return task;`;
  const loops = await program('loops', body, { longest: 1_000 });
  const eats = await program('eats', body, { memory: 16 });
  const [looped, next] = await Promise.allSettled([
    runApart(loops, { owner: 'me', task: 'loop' }),
    runApart(loops, { owner: 'you', task: 'next' }),
  ]);
  assert.ok(looped.status === 'rejected' && looped.reason instanceof TooMuch);
  assert.deepEqual(next, { status: 'fulfilled', value: 'next' });
  await assert.rejects(runApart(eats, { owner: 'me', task: 'eat' }), TooMuch);
  assert.equal(await runApart(eats, { owner: 'me', task: 'more' }), 'more');
});

test('owners are served in turn, and of one only so many wait', async () => {
  const path = await program('turns', echo);
  const done: string[] = [];
  const give = async (owner: string): Promise<void> => {
    await runApart(path, { owner, task: null });
    done.push(owner);
  };
  const all = [...Array.from({ length: 17 }, () => 'a'), 'b'].map(give);
  await assert.rejects(runApart(path, { owner: 'a', task: null }), { kind: 'unavailable' });
  await Promise.all(all);
  assert.deepEqual(done.slice(0, 4), ['a', 'a', 'b', 'a']);
});
