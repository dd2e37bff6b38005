/** `gantry doctor` changes nothing and works on a disk that refuses writes. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, afterEach, test } from 'node:test';
import { type SmallDisk, newSmallDisk } from '../support/machine/small_disk.ts';
import { type Place, engine, newPlace } from './gantry.ts';

let place: Place | undefined;
let disk: SmallDisk | undefined;
afterEach(async () => {
  disk?.remove();
  disk = undefined;
  await place?.remove();
});

/** Each path below the folder, with the digest of a file. */
const contents = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const path = join(folder, name);
      if (!statSync(path).isFile()) return name;
      return `${name} ${hash('sha256', readFileSync(path), 'hex')}`;
    });

type Check = { state: string; check: string; detail: string };

const examine = async ({ run }: Place, line = 'doctor --json'): Promise<Map<string, Check>> => {
  const { stdout, stderr } = await run(line);
  assert.equal(stderr, '');
  const { checks } = JSON.parse(stdout) as { checks: Check[] };
  return new Map(checks.map((one) => [one.check, one]));
};

const failing = (checks: Map<string, Check>): string[] =>
  [...checks.values()].filter(({ state }) => state === 'fail').map(({ check }) => check);

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`leaves a data folder unchanged after a service ended by ${signal}`, async () => {
    place = newPlace();
    await (await place.serve()).end(signal);
    const before = contents(place.data);
    assert.deepEqual(failing(await examine(place)), []);
    assert.deepEqual(failing(await examine(place, 'doctor --thorough --json')), []);
    assert.deepEqual(contents(place.data), before);
  });
}

/** A place on a disk of its own; null: skipped because this machine cannot mount one. */
const onSmallDisk = (t: TestContext): Place | null => {
  place = newPlace();
  mkdirSync(place.data);
  const mounted = newSmallDisk(place.data, 24);
  if (typeof mounted === 'string') {
    t.skip(mounted);
    return null;
  }
  disk = mounted;
  return place;
};

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`works on a full disk, after a service ended by ${signal}`, async (t) => {
    const small = onSmallDisk(t);
    if (small === null) return;
    await (await small.serve()).end(signal);
    disk?.fill();
    assert.deepEqual(failing(await examine(small)), ['disk']);
  });

  test(`works on a read-only disk, after a service ended by ${signal}`, async (t) => {
    const small = onSmallDisk(t);
    if (small === null) return;
    await (await small.serve()).end(signal);
    disk?.makeReadOnly();
    const checks = await examine(small);
    assert.ok(failing(checks).includes('writable'));
    assert.match(checks.get('writable')?.detail ?? '', /EROFS/);
    assert.equal(checks.get('database')?.state, 'ok');
  });
}

test('lets a read-only command succeed on a full disk', { skip: engine === 'postgres' }, async (t) => {
  const small = onSmallDisk(t);
  if (small === null) return;
  await (await small.serve()).end('SIGKILL');
  disk?.fill();
  const { code, stdout, stderr } = await small.run('admin user list');
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /root/);
});
