/** Fetches `include: remote` files over HTTP, only from origins that the operator has configured. */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { Fetch, IncludeTarget } from '../../ci_file/include/included_files.ts';

/** Bytes of one file. */
const maxBytes = 1_048_576;
/** Milliseconds for the whole request, because a pipeline waits for it. */
const timeout = 10_000;

type RemoteInclude = IncludeTarget & { type: 'remote' };
type Fetched = Awaited<ReturnType<Fetch>>;

/** Reads the body; null if it exceeds the limit. */
const readBody = async (response: Response): Promise<Buffer | null> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const matchesIntegrity = (bytes: Buffer, integrity: string): boolean =>
  integrity === `sha256-${hash('sha256', bytes, 'base64')}`;

/** Fetches a URL. Redirects are refused, because they could point to origins that are not configured. */
const fetchUrl = async ({ url, integrity }: RemoteInclude): Promise<Fetched> => {
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(timeout) });
  if (!response.ok) {
    await response.body?.cancel();
    return { problem: 'unreachable' };
  }
  const bytes = await readBody(response);
  if (bytes === null || !isUtf8(bytes)) return { problem: 'unreadable' };
  if (integrity !== null && !matchesIntegrity(bytes, integrity)) return { problem: 'tampered' };
  // Without an origin, it cannot include local files.
  return { files: [{ name: url, text: bytes.toString('utf8'), origin: null }] };
};

/** @param origins such as `https://ci.example.com` */
export const fetchRemoteFile = async (
  origins: readonly string[],
  include: RemoteInclude,
): Promise<Fetched> => {
  if (origins.length === 0) return { problem: 'refused' };
  const url = URL.parse(include.url);
  const isAllowed =
    url !== null && url.username === '' && url.password === '' && origins.includes(url.origin);
  if (!isAllowed) return { problem: 'foreign' };
  return await fetchUrl(include).catch(() => ({ problem: 'unreachable' as const }));
};
