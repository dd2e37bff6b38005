/** Decides how the content of a file is shown. */
import { isText } from '../../../../code/repository/files/serve_blob.ts';
import type { Call } from '../../../../core/access/call.ts';
import { maxSvgBytes, svgHeaders } from '../../../../platform/http/svg.ts';
import { loadNotebook } from '../../../markdown/notebooks/load_notebook.ts';
import type { Notebook } from '../../../markdown/notebooks/parse_notebook.ts';
import { isMarkdownFile } from '../../parts/code/file_names.ts';
import { separatorOf } from './csv_table.ts';

export type BlobKind =
  | { kind: 'text'; text: string }
  | { kind: 'markdown'; text: string }
  | { kind: 'svg'; text: string }
  | { kind: 'csv'; text: string }
  | { kind: 'notebook'; text: string; notebook: Notebook }
  | { kind: 'image' }
  | { kind: 'media'; element: 'audio' | 'video' }
  | { kind: 'pdf' }
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

/** Types of audio and video that browsers play. */
const mediaTypes: Record<string, string> = {
  mp3: 'audio/mpeg',
  oga: 'audio/ogg',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  m4a: 'audio/mp4',
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  ogv: 'video/ogg',
};

const extensionOf = (path: string): string => /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '';

const typeIn = (types: Record<string, string>, path: string): string | null => {
  const extension = extensionOf(path);
  return Object.hasOwn(types, extension) ? (types[extension] ?? null) : null;
};

/** Returns the type of an image by its name; null if it is not an image that can be shown. */
export const imageType = (path: string): string | null => typeIn(imageTypes, path);

/** Checks by its name whether a file is a sound or film that browsers play. */
export const isMediaFile = (path: string): boolean => typeIn(mediaTypes, path) !== null;

export const isNotebookFile = (path: string): boolean => /\.ipynb$/i.test(path);

export const isSvgFile = (path: string): boolean => /\.svg$/i.test(path);

/** Returns whether a file is shown as an SVG image. Unlike other images it is text, which diffs compare. */
export const isShownSvg = (path: string, content: Buffer): boolean =>
  isSvgFile(path) && content.length <= maxSvgBytes && content.includes('<svg') && isText(content);

/** Checks by its name whether a file may be shown in another form than its lines, which `?plain=1` shows. */
export const isRenderedFile = (path: string): boolean =>
  isSvgFile(path) || isMarkdownFile(path) || separatorOf(path) !== null || isNotebookFile(path);

/** Opened by its own address, a sound or film plays, and nothing else loads. */
const mediaPolicy =
  "default-src 'none'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

/**
 * Returns the headers with which browsers show a raw file as an image, or play it.
 * @param content null: large, not loaded
 */
export const shownHeaders = (path: string, content: Buffer | null): Readonly<Record<string, string>> => {
  const type = imageType(path);
  if (type !== null) return { 'content-type': type };
  const media = typeIn(mediaTypes, path);
  if (media !== null) return { 'content-type': media, 'content-security-policy': mediaPolicy };
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

type BlobFile = {
  path: string;
  mode: string;
  /** null: larger than the limit for display. */
  content: Buffer | null;
};

/** Decides how a text is shown. */
const textKind = (path: string, content: Buffer): BlobKind => {
  const text = content.toString('utf8');
  if (isShownSvg(path, content)) return { kind: 'svg', text };
  if (separatorOf(path) !== null && text !== '') return { kind: 'csv', text };
  return { kind: isMarkdownFile(path) ? 'markdown' : 'text', text };
};

const blobKind = ({ path, mode, content }: BlobFile): BlobKind => {
  if (mode === symlinkMode && content !== null) return { kind: 'symlink', target: content.toString('utf8') };
  const pointer = content === null ? null : readPointer(content);
  if (pointer !== null) return { kind: 'lfs', ...pointer };
  if (imageType(path) !== null) return { kind: 'image' };
  const media = typeIn(mediaTypes, path);
  if (media !== null) return { kind: 'media', element: media.startsWith('audio/') ? 'audio' : 'video' };
  if (extensionOf(path) === 'pdf') return { kind: 'pdf' };
  if (content === null) return { kind: 'large' };
  return isText(content) ? textKind(path, content) : { kind: 'binary' };
};

/**
 * Decides how the content of a file is shown. A notebook that takes too long to parse is shown as its text.
 * @param blob id of the blob
 */
export const loadBlobKind = async (call: Call, blob: string, file: BlobFile): Promise<BlobKind> => {
  const kind = blobKind(file);
  if (kind.kind !== 'text' || file.content === null || !isNotebookFile(file.path)) return kind;
  const outcome = await loadNotebook(call, blob, file.content);
  const notebook = outcome.kind === 'done' ? outcome.result : null;
  return notebook === null ? kind : { kind: 'notebook', text: kind.text, notebook };
};
