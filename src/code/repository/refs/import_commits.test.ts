import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import type { Platform } from '../../../core/platform.ts';
import { importCommit } from './import_commits.ts';

const commit = 'a'.repeat(40);

/** Storages of which the second stops reading, and is done with `outcome`, before the pack of the first has ended. */
const makeStorages = (outcome: Promise<object>) => {
  const kept: string[] = [];
  const ask = async (
    method: string,
    params: { names?: string[]; ids?: string[]; updates?: { ref: string }[] },
  ) => {
    if (method === 'refs.update') kept.push(...(params.updates ?? []).map(({ ref }) => ref));
    return { refs: (params.names ?? []).map(() => null), commits: (params.ids ?? []).map(() => null) };
  };
  const stream = async (name: string) => {
    const readable = new PassThrough();
    if (name === 'pack.read') {
      readable.write('pack');
      const result = new Promise((_resolve, reject) => {
        readable.once('close', () => reject(new Error('the reader has gone')));
      });
      return { readable, writable: new PassThrough(), result, destroy: () => readable.destroy() };
    }
    const writable = new Writable({ write: () => void setImmediate(() => writable.destroy()) });
    return { readable, writable, result: outcome, destroy: () => writable.destroy() };
  };
  const git = {
    repository: (place: { repository_storage: string }) => ({
      storage: place.repository_storage,
      ask,
      stream,
    }),
  };
  return { platform: { git } as unknown as Platform, kept };
};

const place = (storage: string) => ({
  id: 1,
  repository_storage: storage,
  repository_path: null,
  repository_written: 1,
});
const between = { source: place('one'), target: place('two') };

test('imports a commit although the storage is done before the pack has ended', async () => {
  const { platform, kept } = makeStorages(Promise.resolve({}));
  await importCommit(platform, between, commit, []);
  assert.deepEqual(kept, [`refs/keep-around/${commit}`]);
});

test('reports that the storage refused the pack', async () => {
  const refused = Promise.reject(new Error('the pack is refused'));
  refused.catch(() => undefined);
  const { platform, kept } = makeStorages(refused);
  await assert.rejects(importCommit(platform, between, commit, []), /refused/);
  assert.deepEqual(kept, []);
});
