/** The cards of the files on the page, with threads, drafts and the form for a comment. */
import type { FileDiff, Oid } from '../../../../../platform/git/protocol_types.ts';
import { codePath } from '../../../parts/code/code_path.ts';
import { collapseReason } from '../../../parts/diff/folding/collapse_reason.ts';
import { rawPathsOf } from '../../../parts/diff/diff_part.ts';
import { type LineRange, addRange, parseRanges } from '../../../parts/diff/line_ranges.ts';
import { type BlobSizes, readBinarySizes } from '../../../parts/diff/contents/binary_sizes.ts';
import { diffFileId, fileCard } from '../../../parts/diff/file_card.ts';
import type { DiffRow } from '../../../parts/diff/parse_lines.ts';
import { highlightedRows } from '../../../parts/diff/prepare_rows.ts';
import { keysOf } from '../../../parts/diff/row_parts.ts';
import { hasOtherLines, readRows } from '../../../parts/diff/read_rows.ts';
import { readSvgBlobs } from '../../../parts/diff/contents/svg_blobs.ts';
import { isLongDiff, streamInOrder } from '../../../parts/diff/stream_in_order.ts';
import { hidden } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import type { CommentPosition } from '../../../parts/diff/comment_position.ts';
import { commentForm } from './comment_form.ts';
import { findEditPath } from './find_edit_path.ts';
import { makeFileSteps } from './file_steps.ts';
import { findCommentable } from './commentable_lines.ts';
import { changesPath, choiceOf } from './changes_address.ts';
import { type Cards, formPath, token } from './card_context.ts';
import { mayReadCode, repositoryOf } from './suggested_text.ts';
import { draftCard, threadCard } from './thread_card.ts';
import { type ThreadPosition, type ShownDraft, type ShownThread, fileOf } from './load_threads.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';

export type OpenForm = CommentPosition & { typed?: string | undefined; from?: number | undefined };

export type FilesPart = {
  cards: Cards;
  files: readonly FileDiff[];
  threads: readonly ShownThread[];
  drafts: readonly (ShownDraft & { position: ThreadPosition | null })[];
  form: OpenForm | null;
};

const canExpand = (cards: Cards, file: FileDiff): boolean => mayReadCode(cards) && hasOtherLines(file);

/** Returns the further lines that the address asks for. */
const shownRanges = ({ changes: { query } }: Cards, file: FileDiff): LineRange[] =>
  query.file === file.new_path ? parseRanges(query.expand) : [];

const readFileRows = async (cards: Cards, file: FileDiff): Promise<DiffRow[]> => {
  const { whole = false } = cards.changes.query;
  const ranges = whole ? 'all' : shownRanges(cards, file);
  return await readRows(repositoryOf(cards), file, mayReadCode(cards) ? ranges : null);
};

type Placed = { below: Map<string, Html[]>; above: Html[]; outdated: Html[] };

const addBelow = ({ below }: Placed, line: string, part: Html): void => {
  below.set(line, [...(below.get(line) ?? []), part]);
};

const insertCard = (
  placed: Placed,
  { line, isOutdated }: ThreadPosition,
  isShown: (line: string) => boolean,
  part: Html,
): void => {
  if (isOutdated) placed.outdated.push(part);
  else if (line !== null && isShown(line)) addBelow(placed, line, part);
  else placed.above.push(part);
};

/** Sorts the threads, drafts and the open form of a file to its lines. */
const placeParts = (part: FilesPart, file: FileDiff, rows: readonly DiffRow[]): Placed => {
  const { cards, files, threads, drafts, form } = part;
  // A change may have thousands of lines and no thread.
  let keys: Set<string> | null = null;
  const isShown = (line: string): boolean => (keys ??= new Set<string>(rows.flatMap(keysOf))).has(line);
  const placed: Placed = { below: new Map(), above: [], outdated: [] };
  const isHere = (one: ThreadPosition): boolean => fileOf(files, one) === file;
  for (const thread of threads.filter((one) => isHere(one.position))) {
    const replies = drafts.filter(({ draft }) => draft.discussion_id === thread.id);
    insertCard(placed, thread.position, isShown, threadCard(cards, thread, replies));
  }
  for (const draft of drafts) {
    if (draft.position !== null && isHere(draft.position)) {
      insertCard(placed, { ...draft.position, isOutdated: false }, isShown, draftCard(cards, draft));
    }
  }
  if (form?.file.new_path === file.new_path) {
    const part = commentForm(cards, form);
    if (form.line !== null && isShown(form.line)) addBelow(placed, form.line, part);
    else placed.above.unshift(part);
  }
  return placed;
};

const abovePart = ({ above, outdated }: Placed): Html | null => {
  if (above.length === 0 && outdated.length === 0) return null;
  const folded =
    outdated.length > 0 &&
    html`<details><summary>${spellCount(outdated.length, 'outdated thread')}</summary><div class="stack">${outdated}</div></details>`;
  return html`<div class="file-threads">${above}${folded}</div>`;
};

const viewedForm = (cards: Cards, file: FileDiff): Html | null => {
  if (!cards.visit.call.signedIn) return null;
  const isViewed = cards.changes.viewed.has(file);
  return html`<form method="post" action="${formPath(cards, '/viewed')}" data-inline data-viewed>${token(cards)}${hidden('path', file.new_path)}${hidden(
    'viewed',
    isViewed ? '0' : '1',
  )}<button class="small" aria-pressed="${String(isViewed)}">${icon(isViewed ? 'check' : 'eye')} Viewed<span class="visually-hidden"> ${file.new_path}</span> <kbd aria-hidden="true">v</kbd></button></form>`;
};

const commentLink = (cards: Cards, file: FileDiff): Html | null => {
  const { changes, rights } = cards;
  if (!rights.mayComment) return null;
  const comment = diffFileId(file);
  const path = changesPath(changes.loaded, { ...choiceOf(changes.query), comment });
  return html`<a class="button small icon-button" href="${path}#new_comment" aria-label="Comment on ${file.new_path}" title="Comment on the file">${icon('comment')}</a>`;
};

/** Start of the addresses that open the form at a line. Relative, because a page has thousands. */
const commentPath = ({ changes, rights }: Cards, file: FileDiff): string | null => {
  if (!rights.mayComment) return null;
  const sent = changesPath(changes.loaded, { ...choiceOf(changes.query), comment: `${diffFileId(file)}_` });
  return sent.slice(sent.indexOf('?')).replaceAll('&', '&amp;');
};

type Shared = {
  steps: ReturnType<typeof makeFileSteps>;
  sizes: BlobSizes;
  svgs: ReadonlySet<Oid>;
  /** Returns the address of the editor of a file; null if it is not offered. */
  editPath: (file: FileDiff) => string | null;
};

const fileBlock = async (
  part: FilesPart,
  { steps, sizes, svgs, editPath }: Shared,
  file: FileDiff,
): Promise<Html> => {
  const { cards } = part;
  const { loaded, query, ends, viewed, view } = cards.changes;
  const { project } = loaded;
  const isAlone = query.file !== undefined;
  const isCollapsed = collapseReason(file, { isAlone }) !== null;
  const rows = isCollapsed ? [] : await readFileRows(cards, file);
  const prepared = await highlightedRows(cards.visit.call, file.new_path, rows);
  const placed = placeParts(part, file, rows);
  const below = new Map([...placed.below].map(([line, parts]) => [line, html`${parts}`]));
  const pathWith = (more: object): string =>
    `${changesPath(loaded, { ...choiceOf(query), file: file.new_path, ...more })}#${diffFileId(file)}`;
  const canRead = mayReadCode(cards);
  const isExpandable = canExpand(cards, file) && query.whole !== true;
  const ranges = shownRanges(cards, file);
  const commentable = await findCommentable(cards, file);
  return fileCard({
    file,
    rows: prepared,
    view,
    isAlone,
    isFolded: viewed.has(file) && !isAlone && part.form?.file.new_path !== file.new_path,
    viewPath:
      file.deleted_file || ends === null || !canRead
        ? null
        : codePath(project, 'blob', ends[1], file.new_path),
    rawPaths: ends === null || !canRead ? { old: null, fresh: null } : rawPathsOf(project, ends, file),
    sizes,
    svgs,
    editPath: editPath(file),
    onlyPath: pathWith({}),
    wholePath: isExpandable ? pathWith({ whole: true }) : null,
    actions: html`${steps(file)}${viewedForm(cards, file)}${commentable.file && commentLink(cards, file)}`,
    above: abovePart(placed),
    table: {
      commentPath: commentPath(cards, file),
      ...(cards.changes.since !== null && { takesComments: commentable.line }),
      expandPath: (range) => {
        const expand = addRange(ranges, range);
        return expand === null ? null : pathWith({ expand });
      },
      below,
    },
  });
};

/** Renders the cards of the files; many lines are rendered while the page is sent. */
export const fileBlocks = async (part: FilesPart): Promise<Html> => {
  const { cards, files } = part;
  const isAlone = cards.changes.query.file !== undefined;
  const open = files.filter((file) => collapseReason(file, { isAlone }) === null);
  const [sizes, svgs, editPath] = await Promise.all([
    readBinarySizes(repositoryOf(cards), files),
    mayReadCode(cards) ? readSvgBlobs(repositoryOf(cards), open) : new Set<Oid>(),
    findEditPath(cards.visit, cards.changes.loaded),
  ]);
  const shared = { steps: makeFileSteps(cards.changes), sizes, svgs, editPath };
  const render = async (file: FileDiff): Promise<Html> => await fileBlock(part, shared, file);
  return isLongDiff(part.files)
    ? streamInOrder(part.files, render)
    : html`${await Promise.all(part.files.map(render))}`;
};
