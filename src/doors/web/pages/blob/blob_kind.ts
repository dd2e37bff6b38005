/** Decides how the content of a file is shown. */
import { isText } from '../../../../code/repository/files/serve_blob.ts';
import { maxSvgBytes, svgHeaders } from '../../../../platform/http/svg.ts';
import { isMarkdownFile } from '../../parts/code/file_names.ts';

export type BlobKind =
  | { kind: 'text'; text: string }
  | { kind: 'markdown'; text: string }
  | { kind: 'svg'; text: string }
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

const isSvgFile = (path: string): boolean => /\.svg$/i.test(path);

/** Checks whether a file is shown as an SVG image. Unlike other images it is text, which diffs compare. */
const isShownSvg = (path: string, content: Buffer): boolean =>
  isSvgFile(path) && content.length <= maxSvgBytes && content.includes('<svg') && isText(content);

/** Checks by its name whether a file may be shown in another form than its lines, which `?plain=1` shows. */
export const isRenderedFile = (path: string): boolean => isSvgFile(path) || isMarkdownFile(path);

/** Returns the headers with which browsers show a raw file as an image. @param content null: large, not loaded */
export const imageHeaders = (path: string, content: Buffer | null): Readonly<Record<string, string>> => {
  const type = imageType(path);
  if (type !== null) return { 'content-type': type };
  return content !== null && isShownSvg(path, content) ? svgHeaders : {};
};

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
  if (!isText(content)) return { kind: 'binary' };
  const text = content.toString('utf8');
  if (isShownSvg(path, content)) return { kind: 'svg', text };
  return { kind: isMarkdownFile(path) ? 'markdown' : 'text', text };
};
