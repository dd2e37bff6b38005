/** The Changes tab of a merge request: files, lines, threads, and the review of them. */
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import type { FileDiff } from '../../../../../platform/git/protocol_types.ts';
import { readVersionDiff } from '../../../../../review/merge_requests/versions/version_diff.ts';
import type { View, Visit } from '../../../page.ts';
import { diffFileId } from '../../../parts/diff/file_card.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { type Html, html } from '../../../parts/html.ts';
import { requestFrame } from '../frame/merge_request_layout.ts';
import { type OpenForm, fileBlocks } from './file_cards.ts';
import { type CommentPosition, findCommentPosition } from '../../../parts/diff/comment_position.ts';
import { commentForm } from './comment_form.ts';
import { partOf, splitFiles } from './file_pages.ts';
import { fileTree } from '../../../parts/diff/file_tree.ts';
import { type Changes, loadChanges } from './load_changes.ts';
import { type ChangesQuery, changesPath, choiceOf } from './changes_address.ts';
import type { Cards, KeptText } from './card_context.ts';
import { suggestedText } from './suggested_text.ts';
import { batchForm } from './suggestion_card.ts';
import { editorTemplate } from '../../../parts/markdown_editor.ts';
import { draftCard, threadCard } from './thread_card.ts';
import { type DiffThreads, countByFile, fileOf, loadDiffThreads, renderDiffThreads } from './load_threads.ts';
import type { ReviewFormState } from './review_menu.ts';
import { toolbar } from './toolbar.ts';

export type ChangesFormState = {
  /** Problems of a refused form. */
  alert?: string;
  /** Text of a comment that was not accepted, and where it belongs. */
  comment?: { typed: string; from?: number | undefined };
  /** A reply, or the text of a draft, that was not accepted. */
  kept?: KeptText;
  /** Problems of a refused review, and its input. */
  review?: ReviewFormState;
};

type Part = {
  files: FileDiff[];
  /** Number of the part, and how many there are. */
  page: number;
  pages: number;
};

/** Reads a single file, with more of its text than in a list of files. */
const readAlone = async (visit: Visit, changes: Changes, path: string): Promise<FileDiff[]> => {
  const { files, ends, ignoresWhitespace, loaded } = changes;
  const listed = files.find(({ new_path }) => new_path === path);
  if (listed === undefined || ends === null) return [];
  if (!listed.too_large) return [listed];
  const [from, to] = ends;
  const paths = [...new Set([listed.old_path, listed.new_path])];
  const request = { from, to, ignore_whitespace: ignoresWhitespace, paths };
  const read = await readVersionDiff(visit.call, loaded.project, request);
  return read?.diffs.filter(({ new_path }) => new_path === path) ?? [];
};

const choosePart = async (visit: Visit, changes: Changes, form: OpenForm | null): Promise<Part> => {
  const { files, query } = changes;
  if (query.file !== undefined) {
    return { files: await readAlone(visit, changes, query.file), page: 1, pages: 1 };
  }
  const parts = splitFiles(files);
  const wanted = form === null ? (query.page ?? 1) : partOf(parts, form.file.new_path);
  const page = Math.min(wanted, Math.max(parts.length, 1));
  return { files: parts[page - 1] ?? [], page, pages: parts.length };
};

/** Links to the other parts. The script replaces the link to the next one by its files, before it is reached. */
const partLinks = (
  { loaded, query }: Changes,
  { page, pages }: Part,
): { before: Html | null; after: Html | null } => {
  const path = (number: number): string => changesPath(loaded, { ...choiceOf(query), page: number });
  return {
    before:
      page > 1
        ? html`<p><a class="button" href="${path(page - 1)}" rel="prev">Earlier files</a> <span class="muted">Part ${page} of ${pages}</span></p>`
        : null,
    after:
      page < pages
        ? html`<p data-more="${path(page + 1)}"><a class="button" href="${path(page + 1)}" rel="next">Further files</a> <span class="muted">Part ${page} of ${pages}</span></p>`
        : null,
  };
};

/** Threads and drafts that belong to no file of the version. */
const restPart = (cards: Cards, rendered: Awaited<ReturnType<typeof renderDiffThreads>>): Html | null => {
  const { files } = cards.changes;
  const threads = rendered.threads.filter(({ position }) => fileOf(files, position) === undefined);
  const drafts = rendered.drafts.filter(
    ({ draft, position }) =>
      draft.discussion_id === null && (position === null || fileOf(files, position) === undefined),
  );
  if (threads.length === 0 && drafts.length === 0) return null;
  return html`<section class="stack" aria-labelledby="other_threads"><h2 id="other_threads">Threads on other files and versions</h2>${threads.map(
    (thread) =>
      html`<div><p class="mono small">${thread.position.path}</p>${threadCard(cards, thread)}</div>`,
  )}${drafts.map((draft) => draftCard(cards, draft))}</section>`;
};

const treePart = (changes: Changes, diffThreads: DiffThreads, part: Part): Html => {
  const { files, loaded, query, viewed } = changes;
  const parts = splitFiles(files);
  const pages = new Map(parts.flatMap((some, at) => some.map((file) => [file.new_path, at + 1] as const)));
  return fileTree({
    files,
    threads: countByFile(diffThreads),
    isViewed: (file) => viewed.has(file),
    addressOf: (file) => {
      const id = `#${diffFileId(file)}`;
      const page = pages.get(file.new_path) ?? 1;
      const isHere = query.file === undefined && page === part.page;
      return isHere ? id : `${changesPath(loaded, { ...choiceOf(query), page })}${id}`;
    },
  });
};

/** The form that the script moves to the line that is commented on. */
const formTemplate = (cards: Cards): Html | null =>
  cards.rights.mayComment
    ? html`<template id="comment_template">${commentForm(cards, { file: { old_path: '', new_path: '' }, line: null })}</template>`
    : null;

const filesPart = async (
  cards: Cards,
  diffThreads: DiffThreads,
  part: Part,
  form: OpenForm | null,
): Promise<Html> => {
  const { visit, changes } = cards;
  const { files, notice, overflow, totalFiles } = changes;
  const isOfPart = (position: { path: string } | null): boolean =>
    position !== null &&
    fileOf(part.files, position as DiffThreads['threads'][number]['position']) !== undefined;
  const isLast = part.page >= part.pages && changes.query.file === undefined;
  const isRest = (position: { path: string } | null): boolean =>
    isLast &&
    (position === null ||
      fileOf(files, position as DiffThreads['threads'][number]['position']) === undefined);
  const threads = diffThreads.threads.filter(({ position }) => isOfPart(position) || isRest(position));
  const ids = new Set(threads.map(({ id }) => id));
  const drafts = diffThreads.drafts.filter(
    ({ draft, position }) =>
      (draft.discussion_id !== null && ids.has(draft.discussion_id)) ||
      isOfPart(position) ||
      isRest(position),
  );
  const rendered = await renderDiffThreads(visit, changes, { threads, drafts });
  const { before, after } = partLinks(changes, part);
  const cut =
    overflow &&
    html`<p class="flash warning">Only the first ${files.length} of ${totalFiles} files have their diffs here.</p>`;
  const about = notice !== null && files.length > 0 && html`<p class="flash warning">${notice}</p>`;
  return html`${cut}${about}${batchForm(cards, rendered.threads)}${before}<div class="stack" id="files" tabindex="-1">${await fileBlocks({ cards, files: part.files, ...rendered, form })}</div>${after}
${isLast && restPart(cards, rendered)}${formTemplate(cards)}`;
};

const emptyPart = ({ notice, since }: Changes): Html => {
  const text =
    notice ?? (since === null ? 'The branches have the same files.' : 'Nothing changed since that version.');
  return html`<section class="card">${emptyState({ icon: 'file', title: 'No changes', text })}</section>`;
};

/**
 * Renders the bar and all threads on files, each with its file and line, for the script that adds the threads of others
 * to an open tab.
 */
export const threadsFragment = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  query: ChangesQuery,
): Promise<Html> => {
  const changes = await loadChanges(visit, loaded, query);
  const diffThreads = await loadDiffThreads(visit, changes);
  const cards: Cards = { visit, changes, rights: diffThreads, isReviewing: diffThreads.drafts.length > 0 };
  const rendered = await renderDiffThreads(visit, changes, diffThreads);
  const parts = splitFiles(changes.files);
  /** Forms of a thread return to the part of the tab with its file, or to the page with only this file. */
  const cardsAt = ({ new_path }: FileDiff): Cards =>
    query.file === undefined
      ? { ...cards, changes: { ...changes, query: { ...changes.query, page: partOf(parts, new_path) } } }
      : cards;
  const placed = rendered.threads.flatMap((thread) => {
    const file = fileOf(changes.files, thread.position);
    if (file === undefined) return [];
    const { line, isOutdated } = thread.position;
    const replies = rendered.drafts.filter(({ draft }) => draft.discussion_id === thread.id);
    return html`<div data-thread data-file="${diffFileId(file)}" data-line="${isOutdated ? '' : (line ?? '')}">${threadCard(cardsAt(file), thread, replies)}</div>
`;
  });
  return html`${toolbar(cards, diffThreads, {})}${placed}`;
};

/** Returns what an address puts into the form for a comment. */
const prefill = async (
  cards: Cards,
  named: CommentPosition & { file: FileDiff },
  { from, suggest = false }: ChangesQuery,
): Promise<Pick<OpenForm, 'typed' | 'from'>> => {
  const typed = suggest ? await suggestedText(cards, named.file, { line: named.line, from }) : null;
  return { from, ...(typed !== null && { typed }) };
};

/** Renders the tab. */
export const changesView = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  query: ChangesQuery,
  state: ChangesFormState = {},
): Promise<View> => {
  const changes = await loadChanges(visit, loaded, query);
  const diffThreads = await loadDiffThreads(visit, changes);
  const cards: Cards = {
    visit,
    changes,
    rights: diffThreads,
    isReviewing: diffThreads.drafts.length > 0,
    kept: state.kept,
  };
  const named = diffThreads.mayComment ? findCommentPosition(changes.files, query.comment) : null;
  const form =
    named === null ? null : { ...named, ...(state.comment ?? (await prefill(cards, named, query))) };
  const part = await choosePart(visit, changes, form);
  const { alert } = state;
  const files = changes.files.length === 0 && diffThreads.threads.length === 0 ? emptyPart(changes) : null;
  const content = html`${toolbar(cards, diffThreads, state.review ?? {})}
<div class="changes">${treePart(changes, diffThreads, part)}<div class="stack">${files ?? (await filesPart(cards, diffThreads, part, form))}</div></div>${editorTemplate}`;
  return await requestFrame(
    visit,
    loaded,
    {
      tab: 'changes',
      ...(alert !== undefined && { alert }),
      view: { isWide: true, ...(files === null && { skip: { to: '#files', text: 'Skip to the diff' } }) },
    },
    content,
  );
};
