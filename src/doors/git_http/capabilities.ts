/**
 * Caches the capability advertisement of git protocol version 2, which is the same for all repositories of a storage.
 */
import { buffer } from 'node:stream/consumers';
import type { Platform } from '../../core/platform.ts';
import type { Project } from '../../projects/projects/find.ts';
import { getRepository } from '../../code/repository/get_repository.ts';
import { getQuota } from '../../code/repository/refs/transfer_access.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';

/** Milliseconds that the cached answer stays valid: the storage may get another git version. */
const goodFor = 60_000;

type CachedBytes = { bytes: Promise<Buffer>; until: number };

const getCache = memoizePerStore((_platform: Platform) => new Map<string, CachedBytes>());

const read = async (platform: Platform, project: Project): Promise<Buffer> => {
  const stream = await getRepository(platform, project).stream('transport.advertise', {
    service: 'git-upload-pack',
    protocol: 2,
    quota: getQuota(platform.config),
  });
  stream.writable.end();
  return await buffer(stream.readable);
};

export const getCapabilities = async (platform: Platform, project: Project): Promise<Buffer> => {
  const kept = getCache(platform);
  const storage = project.repository_storage;
  const before = kept.get(storage);
  const now = performance.now();
  if (before !== undefined && before.until > now) return await before.bytes;
  const bytes = read(platform, project);
  kept.set(storage, { bytes, until: now + goodFor });
  bytes.catch(() => kept.delete(storage));
  return await bytes;
};
