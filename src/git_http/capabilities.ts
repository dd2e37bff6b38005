/** What version 2 of git's protocol begins with: the same for every repository of a storage. */
import { buffer } from 'node:stream/consumers';
import type { Platform } from '../access/call.ts';
import type { Project } from '../projects/find.ts';
import { repositoryOf } from '../repository/open.ts';
import { quotaOf } from '../repository/transfer.ts';
import { oncePer } from '../once_per.ts';

/** Milliseconds after which the storage is asked again: its git may be another one by then. */
const goodFor = 60_000;

type Kept = { bytes: Promise<Buffer>; until: number };

const keptBy = oncePer((_platform: Platform) => new Map<string, Kept>());

const read = async (platform: Platform, project: Project): Promise<Buffer> => {
  const stream = await repositoryOf(platform, project).stream('transport.advertise', {
    service: 'git-upload-pack',
    protocol: 2,
    quota: quotaOf(platform.config),
  });
  stream.writable.end();
  return await buffer(stream.readable);
};

export const capabilitiesOf = async (platform: Platform, project: Project): Promise<Buffer> => {
  const kept = keptBy(platform);
  const storage = project.repository_storage;
  const before = kept.get(storage);
  const now = performance.now();
  if (before !== undefined && before.until > now) return await before.bytes;
  const bytes = read(platform, project);
  kept.set(storage, { bytes, until: now + goodFor });
  bytes.catch(() => kept.delete(storage));
  return await bytes;
};
