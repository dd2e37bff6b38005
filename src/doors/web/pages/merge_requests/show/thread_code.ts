/** The lines of code that the threads of an overview are on. */
import type { Oid } from '../../../../../platform/git/protocol_types.ts';
import { zeroOid } from '../../../../../platform/git/protocol_types.ts';
import { isGitFailure } from '../../../../../platform/git/failure.ts';
import { type LruCache, makeLruCache } from '../../../../../platform/lru_cache.ts';
import { memoizePerStore } from '../../../../../platform/memoize_per_store.ts';
import type { Platform } from '../../../../../core/platform.ts';
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { readVersionDiff } from '../../../../../review/merge_requests/versions/version_diff.ts';
import type { Visit } from '../../../page.ts';
import { hasAnonymousSlot, withAnonymousSlot } from '../../../../../core/access/anonymous_slots.ts';
import { type CommentedLines, type Excerpt, excerptRows } from '../../../parts/diff/excerpt_rows.ts';
import { type DiffRow, parseLines } from '../../../parts/diff/parse_lines.ts';
import { highlightedRows } from '../../../parts/diff/prepare_rows.ts';
import type { LineKey } from '../../../parts/diff/row_parts.ts';
import { writeUnified } from '../../../parts/diff/write_unified.ts';
import { type Html, html } from '../../../parts/html.ts';
import type { ShownPosition, ShownThread } from '../../../parts/timeline/load_timeline.ts';

/** Maximum files whose diffs are read for a page; threads on further files show only their line number. */
const maxFiles = 20;
/** Characters of cached excerpts. */
const maxWeight = 2 * 1024 * 1024;
const rowWeight = 100;

const getCache = memoizePerStore((_platform: Platform): LruCache<{ excerpt: Excerpt | null }> =>
  makeLruCache(
    maxWeight,
    ({ excerpt }, key) =>
      key.length +
      (excerpt?.rows ?? []).reduce((sum, { text }) => sum + rowWeight + 2 * text.length, rowWeight),
  ),
);

/** A thread on a line, by its first comment. */
type CodeThread = { noteId: number; position: ShownPosition; lines: CommentedLines };

const toKey = (old_line: number | null | undefined, new_line: number | null | undefined): LineKey | null => {
  if (typeof new_line === 'number') return `new_${new_line}`;
  return typeof old_line === 'number' ? `old_${old_line}` : null;
};

const toCodeThread = ({ notes: [lead] }: ShownThread): CodeThread[] => {
  const position = lead?.position ?? null;
  if (lead === undefined || position === null) return [];
  const line = toKey(position.old_line, position.new_line);
  const start = position.line_range?.start;
  const first = start === undefined ? null : toKey(start.old_line, start.new_line);
  return line === null ? [] : [{ noteId: lead.id, position, lines: { line, first } }];
};

/** Identifies the diff of a file of a version. */
const fileKey = ({ base_sha, head_sha, old_path, new_path }: ShownPosition): string =>
  JSON.stringify([base_sha, head_sha, old_path, new_path]);

/** Reads the rows of the file that a position is in; none: they are gone, too many, or the storage does not answer. */
const readRows = async (
  { call }: Visit,
  { project }: LoadedMergeRequest,
  { base_sha, head_sha, old_path, new_path }: ShownPosition,
): Promise<DiffRow[]> => {
  const from: Oid | null = base_sha === zeroOid ? null : base_sha;
  const paths = [...new Set([old_path, new_path])];
  try {
    const read = await readVersionDiff(call, project, { from, to: head_sha, paths });
    const file =
      read?.diffs.find((one) => one.new_path === new_path) ??
      read?.diffs.find((one) => one.old_path === old_path);
    return file === undefined || file.binary || file.too_large ? [] : parseLines(file.diff);
  } catch (error) {
    if (isGitFailure(error)) return [];
    throw error;
  }
};

/** Finds the excerpts of the threads on a file, which is read once, and only if some are not cached. */
const findExcerpts = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  threads: readonly CodeThread[],
): Promise<(CodeThread & { excerpt: Excerpt })[]> => {
  const cache = getCache(visit.call.platform);
  const keyOf = ({ position, lines }: CodeThread): string =>
    JSON.stringify([loaded.project.id, fileKey(position), lines]);
  let rows: DiffRow[] | null = null;
  const found: (CodeThread & { excerpt: Excerpt })[] = [];
  for (const thread of threads) {
    const key = keyOf(thread);
    const cached = cache.get(key);
    if (cached === undefined) rows ??= await readRows(visit, loaded, thread.position);
    const excerpt = cached === undefined ? excerptRows(rows ?? [], thread.lines) : cached.excerpt;
    // A storage that does not answer may do so later.
    if (cached === undefined && (excerpt !== null || (rows ?? []).length > 0)) cache.set(key, { excerpt });
    if (excerpt !== null) found.push({ ...thread, excerpt });
  }
  return found;
};

const showExcerpt = async (
  { call }: Visit,
  { noteId, position, excerpt: { rows, shown } }: CodeThread & { excerpt: Excerpt },
): Promise<Html> => {
  const prepared = await highlightedRows(call, position.new_path, rows);
  const table = writeUnified({
    rows: prepared.slice(-shown),
    fileId: `code_${noteId}`,
    label: `Commented lines of ${position.new_path}`,
  });
  return html`<div class="card thread-code">${table}</div>`;
};

/** Renders the lines of the threads that are on code, by the id of their first comment. */
export const loadThreadCode = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  threads: readonly ShownThread[],
): Promise<ReadonlyMap<number, Html>> => {
  const all = threads.flatMap(toCodeThread);
  if (all.length === 0 || !hasAnonymousSlot(visit)) return new Map();
  const files = [...Map.groupBy(all, ({ position }) => fileKey(position)).values()].slice(0, maxFiles);
  const excerpts = await withAnonymousSlot(
    visit,
    async () => await Promise.all(files.map(async (some) => await findExcerpts(visit, loaded, some))),
  );
  const shown = excerpts
    .flat()
    .map(async (thread) => [thread.noteId, await showExcerpt(visit, thread)] as const);
  return new Map(await Promise.all(shown));
};
