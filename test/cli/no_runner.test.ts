/** A service whose jobs run on other runners. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { makeRunnerFolder } from '../support/ci/runner_process.ts';
import { type Place, newPlace } from './gantry.ts';

const places: Place[] = [];
let folder: string;
before(async () => {
  folder = await makeRunnerFolder();
});
after(async () => {
  for (const place of places) await place.remove();
  rmSync(folder, { recursive: true, force: true });
});

const serve = async (line: string, executor: string): Promise<number> => {
  const place = newPlace();
  places.push(place);
  const env = { GANTRY_RUNNER_EXECUTOR: executor, GANTRY_RUNNER_FOLDER: `${folder}/${places.length}` };
  return (await place.serve(line, { env })).child.pid ?? 0;
};

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it has ended
  }
};

/** Whether the process has started a runner. */
const hasRunner = (pid: number): boolean =>
  textOf(`/proc/${pid}/task/${pid}/children`)
    .split(' ')
    .some((child) => child !== '' && /runner/.test(textOf(`/proc/${child}/cmdline`)));

test('starts no built-in runner if an option or a setting disables it', async () => {
  const without = [await serve('serve --no-runner', 'shell'), await serve('serve', 'none')];
  // This service starts after the others and has its runner before they might.
  const has = await serve('serve', 'shell');
  while (!hasRunner(has)) await wait(20);
  assert.deepEqual(without.map(hasRunner), [false, false]);
});
