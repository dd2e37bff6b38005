/** Decides how the content of a file is shown. */
import { isMarkdownFile } from '../../parts/code/file_names.ts';

export type BlobKind =
  | { kind: 'text'; text: string }
  | { kind: 'markdown'; text: string }
  | { kind: 'image' }
  | { kind: 'binary' }
  | { kind: 'large' }
  | { kind: 'symlink'; target: string }
  | { kind: 'lfs'; oid: string; size: number };

/** Types of images that browsers show and that cannot run scripts. */
const imageTypes: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  ico: 'image/x-icon',
  bmp: 'image/bmp',
};

/** Returns the type of an image by its name; null: it is none that is shown. */
export const imageType = (path: string): string | null =>
  imageTypes[/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ''] ?? null;

/** Bytes that a pointer of Git LFS has at most. */
const maxPointerBytes = 1_024;

const readPointer = (content: Buffer): { oid: string; size: number } | null => {
  if (content.length > maxPointerBytes) return null;
  const text = content.toString('utf8');
  if (!text.startsWith('version https://git-lfs.github.com/spec/')) return null;
  const oid = /^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1];
  const size = Number(/^size (\d{1,15})$/m.exec(text)?.[1] ?? Number.NaN);
  return oid === undefined || Number.isNaN(size) ? null : { oid, size };
};

const symlinkMode = '120000';

type Given = {
  path: string;
  mode: string;
  /** null: larger than the limit for display. */
  content: Buffer | null;
};

export const blobKind = ({ path, mode, content }: Given): BlobKind => {
  if (mode === symlinkMode && content !== null) return { kind: 'symlink', target: content.toString('utf8') };
  const pointer = content === null ? null : readPointer(content);
  if (pointer !== null) return { kind: 'lfs', ...pointer };
  if (imageType(path) !== null) return { kind: 'image' };
  if (content === null) return { kind: 'large' };
  // Like git: a NUL among the first bytes.
  if (content.subarray(0, 8_000).includes(0)) return { kind: 'binary' };
  const text = content.toString('utf8');
  return { kind: isMarkdownFile(path) ? 'markdown' : 'text', text };
};
