/** Forms of comments: on lines, ranges and files, replies, and threads. */
import { addReply, createDiscussion } from '../../../../../../planning/discussions/create.ts';
import { locateInDiff } from '../../../../../../planning/discussions/find_line.ts';
import {
  type PositionInput,
  isNoSuchLine,
  noSuchLine,
  readPosition,
} from '../../../../../../planning/discussions/position_param.ts';
import { findDiscussion } from '../../../../../../planning/discussions/queries.ts';
import { resolveAllThreads, resolveNotes } from '../../../../../../planning/discussions/resolve.ts';
import { requireResolver } from '../../../../../../planning/discussions/resolve_and_reply_rules.ts';
import { refused } from '../../../../../../platform/errors.ts';
import { parsePosition } from '../../../../../../planning/notes/position.ts';
import { runQuickActions, skippedNotice } from '../../../../../../planning/notes/quick_actions.ts';
import { requireCommenter } from '../../../../../../planning/notes/rules.ts';
import {
  boolean,
  integer,
  longText,
  object,
  oneOf,
  optional,
  text,
} from '../../../../../../platform/http/schema.ts';
import { createDraft } from '../../../../../../review/merge_requests/drafts/draft_notes.ts';
import { type LoadedMergeRequest, findMergeRequest } from '../../../../../../review/merge_requests/find.ts';
import { commentedMergeRequest as noun } from '../../../../../../review/merge_requests/quick_actions.ts';
import { type Visit, page } from '../../../../page.ts';
import { diffFileId } from '../../../../parts/diff/file_card.ts';
import { oneRequest, requestsRoutePath } from '../../paths.ts';
import { type ChangesQuery, choiceOf, choiceParams } from '../changes_address.ts';
import { loadChanges } from '../load_changes.ts';
import { pathOfFile, submit } from './submit_form.ts';
import { omitEmpty } from '../../../../../../platform/omit_empty.ts';

export const routePath = `${requestsRoutePath}/:iid/diffs`;

const intent = oneOf(['comment', 'review'], { default: 'comment' });

type Sent = {
  base: string;
  start: string;
  head: string;
  path: string;
  old_path: string;
  line: string;
  from?: number | undefined;
};

/**
 * Reads the position of a form as the API reads its parameter `position`.
 * @returns null if the comment is on the merge request as a whole
 * @throws Failure 400
 */
const toPosition = ({ path, old_path, line, from, base, start, head }: Sent): PositionInput | null => {
  const shas = { base_sha: base, start_sha: start, head_sha: head };
  if (path === '') return null;
  const [side, number] = line.split('_');
  const paths = { new_path: path, old_path: old_path === '' ? path : old_path };
  if (line === '') return readPosition({ ...shas, ...paths, position_type: 'file' });
  const name = side === 'old' ? 'old_line' : 'new_line';
  const range =
    from === undefined || String(from) === number
      ? {}
      : { line_range: { start: { [name]: from }, end: { [name]: number } } };
  return readPosition({ ...shas, ...paths, position_type: 'text', [name]: number, ...range });
};

/** `hash`: the comment on the page; empty if it had only actions. */
type Stored = { hash: string; notice: string | undefined };

const storeComment = async (
  { call }: Visit,
  loaded: LoadedMergeRequest,
  { body: typed, head, position: requested }: { body: string; head: string; position: PositionInput | null },
): Promise<Stored> => {
  requireCommenter(call, loaded);
  const position = requested === null ? null : await locateInDiff(call, loaded, requested);
  const { body, done } = await runQuickActions(noun, call, loaded, { body: typed, head });
  const notice = skippedNotice(done);
  if (done !== null && body === '') return { hash: '', notice };
  const { notes } = await createDiscussion(noun, call, loaded, { body, position });
  return { hash: `#note_${notes[0].id}`, notice };
};

const storeDraft = async (
  { call }: Visit,
  loaded: LoadedMergeRequest,
  draft: { note: string; position: PositionInput | null; in_reply_to?: string; resolves?: boolean },
): Promise<string> => {
  const { note, position, in_reply_to, resolves = false } = draft;
  const { id } = await createDraft(call, loaded, {
    note,
    position,
    in_reply_to_discussion_id: in_reply_to,
    resolve_discussion: resolves,
  });
  return `#draft_${id}`;
};

/** Says why a line takes no comment, and where the comment can go. */
const explainNoSuchLine = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  { path, line, ...query }: ChangesQuery & Pick<Sent, 'path' | 'line'>,
): Promise<string> => {
  const { files } = await loadChanges(visit, loaded, choiceOf({ ...query, start_sha: undefined }));
  if (!files.some(({ new_path, old_path }) => new_path === path || old_path === path)) {
    return 'The merge request does not change this file in this version. Comment on the overview instead.';
  }
  const reason =
    query.start_sha && line.startsWith('old')
      ? 'This is a line of an older version. Open that version to comment on the line'
      : 'The merge request does not change this line. Choose a line of the changes';
  return `${reason}, or comment on the file.`;
};

const comment = page({
  method: 'POST',
  path: `${routePath}/comments`,
  audience: 'user',
  params: object({
    ...oneRequest,
    ...choiceParams,
    base: optional(text()),
    start: optional(text()),
    head: optional(text()),
    path: optional(text({ maxLength: 4_096 })),
    old_path: optional(text({ maxLength: 4_096 })),
    line: optional(text({ maxLength: 20 })),
    from: optional(integer({ minimum: 1 })),
    seen_head: optional(text()),
    body: optional(longText()),
    intent,
  }),
  handle: async (visit, { project, iid, body: typed = '', intent: chosen, ...sent }) => {
    const loaded = await findMergeRequest(visit.call, project, iid);
    const { base = '', start = '', head = '', path = '', old_path = '', line = '', from, ...rest } = sent;
    const { seen_head = '', ...query } = rest;
    const lineId = `${diffFileId({ new_path: path })}${line === '' ? '' : `_${line}`}`;
    let stored: Stored = { hash: '', notice: undefined };
    requireCommenter(visit.call, loaded);
    const shown = { ...query, comment: lineId };
    const operation = async (): Promise<void> => {
      try {
        const isOfOldVersion = Boolean(query.start_sha) && line.startsWith('old');
        if (isOfOldVersion) throw noSuchLine();
        const position = toPosition({ base, start, head, path, old_path, line, from });
        stored =
          chosen === 'review'
            ? { hash: await storeDraft(visit, loaded, { note: typed, position }), notice: undefined }
            : await storeComment(visit, loaded, { body: typed, head: seen_head, position });
      } catch (error) {
        if (!isNoSuchLine(error)) throw error;
        // The text is kept in a form for the whole file.
        shown.comment = diffFileId({ new_path: path });
        throw refused(await explainNoSuchLine(visit, loaded, { ...query, path, line }));
      }
    };
    return await submit(visit, { loaded, query: shown }, operation, {
      next: async () => `${await pathOfFile(visit, loaded, query, omitEmpty(path))}${stored.hash}`,
      notice: () => stored.notice,
      toState: (alert) => ({ alert, comment: { typed, from } }),
    });
  },
});

/** Returns the path of the file that a discussion is on. */
const pathOfDiscussion = ({ notes }: Awaited<ReturnType<typeof findDiscussion>>): string | undefined =>
  parsePosition(notes[0].position)?.new_path;

const reply = page({
  method: 'POST',
  path: `${routePath}/replies`,
  audience: 'user',
  params: object({
    ...oneRequest,
    ...choiceParams,
    discussion_id: optional(text()),
    seen_head: optional(text()),
    body: optional(longText()),
    resolve: optional(boolean()),
    intent,
  }),
  handle: async (visit, { project, iid, discussion_id = '', body: note = '', seen_head, ...rest }) => {
    const { resolve = false, ...sent } = rest;
    const { call } = visit;
    const loaded = await findMergeRequest(call, project, iid);
    const discussion = await findDiscussion(call, loaded.target, discussion_id);
    let hash = `#note_${discussion.notes[0].id}`;
    let notice: string | undefined;
    const operation = async (): Promise<void> => {
      if (sent.intent === 'review') {
        hash = await storeDraft(visit, loaded, {
          note,
          position: null,
          in_reply_to: discussion_id,
          resolves: resolve,
        });
        return;
      }
      if (resolve) requireResolver(call, loaded, discussion.notes);
      requireCommenter(call, loaded);
      const { body: kept, done } = await runQuickActions(noun, call, loaded, { body: note, head: seen_head });
      notice = skippedNotice(done);
      if (done === null || kept !== '') {
        hash = `#note_${(await addReply(noun, call, loaded, { body: kept, discussion_id })).id}`;
      }
      if (!resolve) return;
      const { notes } = await findDiscussion(call, loaded.target, discussion_id);
      await resolveNotes(noun, call, loaded, { notes, resolved: true });
    };
    return await submit(visit, { loaded, query: sent }, operation, {
      next: async () => `${await pathOfFile(visit, loaded, sent, pathOfDiscussion(discussion))}${hash}`,
      notice: () => notice,
      file: pathOfDiscussion(discussion),
      toState: (alert) => ({ alert, kept: { typed: note, discussion_id, resolves: resolve } }),
    });
  },
});

const resolve = (verb: 'resolve' | 'unresolve') =>
  page({
    method: 'POST',
    path: `${routePath}/discussions/:discussion/${verb}`,
    audience: 'user',
    params: object({ ...oneRequest, ...choiceParams, discussion: text() }),
    handle: async (visit, { project, iid, discussion: id, ...query }) => {
      const { call } = visit;
      const loaded = await findMergeRequest(call, project, iid);
      const discussion = await findDiscussion(call, loaded.target, id);
      requireResolver(call, loaded, discussion.notes);
      const operation = async (): Promise<void> =>
        await resolveNotes(noun, call, loaded, { notes: discussion.notes, resolved: verb === 'resolve' });
      return await submit(visit, { loaded, query }, operation, {
        next: async () =>
          `${await pathOfFile(visit, loaded, query, pathOfDiscussion(discussion))}#thread_${id}`,
      });
    },
  });

const resolveAll = page({
  method: 'POST',
  path: `${routePath}/resolve_all`,
  audience: 'user',
  params: object({ ...oneRequest, ...choiceParams }),
  handle: async (visit, { project, iid, ...query }) => {
    const loaded = await findMergeRequest(visit.call, project, iid);
    return await submit(
      visit,
      { loaded, query },
      async () => await resolveAllThreads(noun, visit.call, loaded),
      {
        next: async () => await pathOfFile(visit, loaded, query, undefined),
        notice: 'All threads were resolved.',
      },
    );
  },
});

export const commentPages = [comment, reply, resolve('resolve'), resolve('unresolve'), resolveAll];
