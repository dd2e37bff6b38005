/** Files of a configuration that lie elsewhere on the net: of places that whoever runs the service names, and no others. */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { Fetch, Wanted } from '../ci_file/include_wanted.ts';

/** Bytes of one file. */
const largest = 1_048_576;
/** Milliseconds for all of it: a pipeline waits meanwhile. */
const patience = 10_000;

type Remote = Wanted & { type: 'remote' };
type Fetched = Awaited<ReturnType<Fetch>>;

/** null: it is more than there may be. */
const read = async (response: Response): Promise<Buffer | null> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > largest) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const isSame = (bytes: Buffer, integrity: string): boolean =>
  integrity === `sha256-${hash('sha256', bytes, 'base64')}`;

/** No redirect is followed: it would lead to places that nobody named. */
const ask = async ({ url, integrity }: Remote): Promise<Fetched> => {
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(patience) });
  if (!response.ok) {
    await response.body?.cancel();
    return { problem: 'unreachable' };
  }
  const bytes = await read(response);
  if (bytes === null || !isUtf8(bytes)) return { problem: 'unreadable' };
  if (integrity !== null && !isSame(bytes, integrity)) return { problem: 'tampered' };
  // It is of no project: it names no local files.
  return { files: [{ name: url, text: bytes.toString('utf8'), origin: null }] };
};

/** @param origins such as `https://ci.example.com` */
export const remoteFile = async (origins: readonly string[], wanted: Remote): Promise<Fetched> => {
  if (origins.length === 0) return { problem: 'refused' };
  const url = URL.parse(wanted.url);
  const isNamed = url !== null && url.username === '' && url.password === '' && origins.includes(url.origin);
  if (!isNamed) return { problem: 'foreign' };
  return await ask(wanted).catch(() => ({ problem: 'unreachable' as const }));
};
