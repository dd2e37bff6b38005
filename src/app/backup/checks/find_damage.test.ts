import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { StartFailure } from '../../../platform/errors.ts';
import type { Manifest } from '../manifest.ts';
import type { BackupReader } from '../places/backup_place.ts';
import { describeDamage } from './find_damage.ts';
import { isDamage } from './is_damage.ts';

const object = { sha256: hash('sha256', 'other bytes'), size: 5 };
const manifest = { format: 1, database: object, contents: object, secrets: null } as unknown as Manifest;

const placeOf = (content: () => AsyncGenerator<Buffer>, recorded: string[]): BackupReader => ({
  label: 'place',
  blobs: { get: async () => await Promise.resolve(Readable.from(content())) },
  listTexts: async () => await Promise.resolve([]),
  readText: async () => await Promise.resolve(null),
  writeText: async (path) => await Promise.resolve(void recorded.push(path)),
});

test('an outage while objects are read marks none as damaged', async () => {
  for (const code of ['ETIMEDOUT', 'EACCES', 'UND_ERR_SOCKET']) {
    const recorded: string[] = [];
    const place = placeOf(async function* content() {
      yield await Promise.resolve(Buffer.from('some '));
      throw Object.assign(new Error('away'), { code });
    }, recorded);
    await assert.rejects(describeDamage(place, manifest), /away/);
    assert.deepEqual(recorded, []);
  }
});

test('wrong bytes and unreadable blocks are damage', async () => {
  const recorded: string[] = [];
  const place = placeOf(async function* content() {
    yield await Promise.resolve(Buffer.from('some bytes'));
  }, recorded);
  assert.match((await describeDamage(place, manifest)) ?? '', /is damaged.*\(the database\)/);
  assert.deepEqual(recorded, [`damaged/${object.sha256}`]);
  for (const code of ['EIO', 'ZSTD_error_prefix_unknown', 'Z_BUF_ERROR'])
    assert.ok(isDamage(Object.assign(new Error('x'), { code })), code);
  assert.ok(isDamage(new StartFailure('it is missing')));
});
