/** Tests the removal of unused caches, project files and control groups. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { makeGroup } from '../executors/cgroup.ts';
import { takeNumber } from './slot_folders.ts';
import { prune } from './prune_caches.ts';

const root = mkdtempSync(join(tmpdir(), 'gantry-test-prune-'));
after(() => rmSync(root, { recursive: true, force: true }));

const now = Date.now();
const day = 86_400_000;

/** Creates a file or folder that was last used that many days ago. Returns its path. */
const leave = (path: string, days: number, size: number | null = null): string => {
  const whole = join(root, path);
  mkdirSync(size === null ? whole : dirname(whole), { recursive: true });
  if (size !== null) writeFileSync(whole, Buffer.alloc(size));
  const then = new Date(now - days * day);
  utimesSync(whole, then, then);
  return whole;
};

describe('pruning', () => {
  const once = async (cacheBytes: number) =>
    await prune({ root, drops: false, bounds: { cacheBytes, days: 10 }, now });

  it('removes old caches, then the least recently used ones', async () => {
    const old = leave('cache/1/open/old.zip', 11, 1);
    const first = leave('cache/1/open/first.zip', 3, 600);
    const second = leave('cache/2/protected/second.zip', 2, 600);
    const last = leave('cache/2/open/last.zip', 1, 300);
    assert.deepEqual(await once(1_000), { caches: 2, folders: 0 });
    assert.deepEqual(
      [old, first, second, last].map((path) => existsSync(path)),
      [false, false, true, true],
    );
    assert.equal(existsSync(join(root, 'cache/1')), false);
  });
  it("removes projects' files that no job has used for long, except in a slot in use", async () => {
    const old = leave('slots/0/work/builds/1', 11);
    const mirror = leave('slots/0/work/mirrors/1', 11);
    const fresh = leave('slots/0/work/builds/2', 9);
    const held = leave('slots/1/work/container-builds/1', 11);
    const slot = takeNumber(root, 1, false);
    assert.deepEqual(await once(1_000), { caches: 0, folders: 2 });
    assert.deepEqual(
      [old, mirror, fresh, held].map((path) => existsSync(path)),
      [false, false, true, true],
    );
    slot?.release();
    assert.deepEqual(await once(1_000), { caches: 0, folders: 1 });
  });
});

const limits = { processes: 9, memory: 4_096, file: 1 };
const here = makeGroup('here', limits);
await here?.kill();

describe('a control group', () => {
  it('is created only below a cgroup hierarchy, and leaves no folder elsewhere', () => {
    const parent = join(root, 'groups');
    mkdirSync(parent);
    assert.equal(makeGroup('x', limits, [join(root, 'none'), parent]), null);
    assert.deepEqual(readdirSync(parent), []);
  });

  it(
    'the control group of a job is removed when the job ends',
    { skip: here === null && 'no control group can be made here' },
    async () => {
      const group = makeGroup('ended', limits);
      assert.ok(group);
      assert.equal(readFileSync(group.entrance, 'utf8'), '');
      await group.kill();
      assert.equal(existsSync(group.entrance), false);
      assert.equal(existsSync(dirname(group.entrance)), false);
    },
  );
});
