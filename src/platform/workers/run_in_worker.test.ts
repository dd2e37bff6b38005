/** Worker threads for untrusted input: they return results, ask questions, and are terminated past their limits. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Program } from './program_path.ts';
import { WorkerLimitError, runInWorker } from './run_in_worker.ts';

const skip = existsSync('/usr/bin/prlimit') ? false : 'prlimit is not installed';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-apart-'));
});
after(async () => await rm(folder, { recursive: true }));

/** @param body may use `task` and `ask` */
const program = async (name: string, body: string, limits: Partial<Program> = {}): Promise<Program> => {
  const path = join(folder, `${name}.ts`);
  const serve = join(import.meta.dirname, 'serve_tasks.ts');
  await writeFile(
    path,
    `import { serveTasks } from ${JSON.stringify(serve)};
     serveTasks(async (task: any, ask) => { ${body} });`,
  );
  return { path, maxMilliseconds: 60_000, memory: 64, ...limits };
};

const echo = 'return task;';

test('runs tasks one after another and returns their results', async () => {
  const path = await program('echo', echo);
  const tasks = [1, 'two', { three: [3n] }, null];
  const results = await Promise.all(
    tasks.map(async (task) => await runInWorker(path, { owner: 'me', task })),
  );
  assert.deepEqual(results, tasks);
});

test('a thread asks its parent several questions at once', async () => {
  const path = await program('asks', 'return await Promise.all([ask(task), ask(task + 1)]);');
  const answer = async (question: unknown): Promise<number> => Number(question) * 10;
  assert.deepEqual(await runInWorker(path, { owner: 'me', task: 1, answer }), [10, 20]);
});

test('an error in an answer rejects the task', async () => {
  const path = await program('refused', `return task === 'ask' ? await ask(task) : task;`);
  const why = new Error('not for you');
  const answer = async (): Promise<never> => await Promise.reject(why);
  await assert.rejects(runInWorker(path, { owner: 'me', task: 'ask', answer }), why);
  assert.equal(await runInWorker(path, { owner: 'me', task: 'more' }), 'more');
});

test('terminates endless tasks and tasks that use too much memory, and runs the next ones', async () => {
  const body = `if (task === 'loop') for (;;);
    if (task === 'eat') { const all = []; for (;;) all.push(new Array(100_000).fill(all.length)); }
    return task;`;
  const loops = await program('loops', body, { maxMilliseconds: 1_000 });
  const eats = await program('eats', body, { memory: 16 });
  const [looped, next] = await Promise.allSettled([
    runInWorker(loops, { owner: 'me', task: 'loop' }),
    runInWorker(loops, { owner: 'you', task: 'next' }),
  ]);
  assert.ok(looped.status === 'rejected' && looped.reason instanceof WorkerLimitError);
  assert.deepEqual(next, { status: 'fulfilled', value: 'next' });
  await assert.rejects(runInWorker(eats, { owner: 'me', task: 'eat' }), WorkerLimitError);
  assert.equal(await runInWorker(eats, { owner: 'me', task: 'more' }), 'more');
});

test('serves owners round-robin and limits the waiting tasks of each', async () => {
  const path = await program('turns', echo);
  const done: string[] = [];
  const give = async (owner: string): Promise<void> => {
    await runInWorker(path, { owner, task: null });
    done.push(owner);
  };
  const all = [...Array.from({ length: 17 }, () => 'a'), 'b'].map(give);
  await assert.rejects(runInWorker(path, { owner: 'a', task: null }), { kind: 'unavailable' });
  await Promise.all(all);
  assert.deepEqual(done.slice(0, 4), ['a', 'a', 'b', 'a']);
});

test('refuses a task for now if no thread can start', { skip }, async () => {
  const path = await program('exhausted', echo);
  const script = `
    import { closeSync, openSync } from 'node:fs';
    import { runInWorker } from ${JSON.stringify(join(import.meta.dirname, 'run_in_worker.ts'))};
    const open = [];
    try { for (;;) open.push(openSync('/dev/null')); } catch {}
    const work = () => runInWorker(${JSON.stringify(path)}, { owner: 'me', task: 1 });
    const refused = await work().catch(({ kind }) => kind);
    for (const one of open) closeSync(one);
    console.log(JSON.stringify([refused, await work()]));
    process.exit();`;
  const file = join(folder, 'exhausts.mjs');
  await writeFile(file, script);
  const { stdout } = await promisify(execFile)('prlimit', ['--nofile=60', process.execPath, file]);
  assert.deepEqual(JSON.parse(stdout), ['unavailable', 1]);
});
