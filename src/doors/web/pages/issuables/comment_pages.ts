/** Forms of comments: new comments, replies, threads and reactions. */
import type { Call } from '../../../../core/access/call.ts';
import { addReply, createDiscussion } from '../../../../planning/discussions/create.ts';
import { findDiscussion } from '../../../../planning/discussions/queries.ts';
import { resolveNotes } from '../../../../planning/discussions/resolve.ts';
import { requireResolver } from '../../../../planning/discussions/resolve_and_reply_rules.ts';
import type { LoadedNoteable } from '../../../../planning/issuables/target.ts';
import { createNote } from '../../../../planning/notes/create.ts';
import { runQuickActions, skippedNotice } from '../../../../planning/notes/quick_actions.ts';
import { requireCommenter, requireInternalWriter } from '../../../../planning/notes/rules.ts';
import { forbidden } from '../../../../platform/errors.ts';
import { boolean, longText, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { page, redirect } from '../../page.ts';
import { emojiPages } from './emoji_pages.ts';
import { type CommentedKind, recordParams } from './issuable_kind.ts';
import { submitForm } from './submit_form.ts';

type Comment = {
  body: string;
  intent: 'comment' | 'thread' | 'close' | 'reopen';
  discussion_id?: string | undefined;
  internal?: boolean | undefined;
  /** The thread of the reply is resolved. */
  resolve?: boolean | undefined;
  /** Head of the merge request that the page showed. */
  seen_head?: string | undefined;
};

/** `id`: null if the comment had only actions. */
type Stored = { id: number | null; notice: string | undefined };

type Nouns<L extends LoadedNoteable> = Pick<CommentedKind<L>, 'noun' | 'commented'>;

/** Stores a comment after its quick actions, as the API does. */
const storeComment = async <L extends LoadedNoteable>(
  { noun, commented }: Nouns<L>,
  call: Call,
  loaded: L,
  { body: typed, intent, discussion_id, internal = false, seen_head: head }: Comment,
): Promise<Stored> => {
  if (discussion_id !== undefined) await findDiscussion(call, loaded.target, discussion_id);
  if (internal) requireInternalWriter(call, loaded);
  const { body, done } = await runQuickActions(commented, call, loaded, { body: typed, head });
  const notice = skippedNotice(done);
  if (done !== null && body === '') return { id: null, notice };
  const store = async () => {
    if (discussion_id !== undefined) return await addReply(noun, call, loaded, { body, discussion_id });
    if (intent !== 'thread') return await createNote(noun, call, loaded, { body, internal });
    return (await createDiscussion(noun, call, loaded, { body, internal, position: null })).notes[0];
  };
  return { id: (await store()).id, notice };
};

/** Stores a reply as `storeComment` does, and resolves its thread. */
const replyAndResolve = async <L extends LoadedNoteable>(
  kind: Nouns<L>,
  call: Call,
  loaded: L,
  reply: Comment & { discussion_id: string },
): Promise<Stored> => {
  const load = async () => (await findDiscussion(call, loaded.target, reply.discussion_id)).notes;
  requireResolver(call, loaded, await load());
  const stored = await storeComment(kind, call, loaded, reply);
  await resolveNotes(kind.noun, call, loaded, { notes: await load(), resolved: true });
  return stored;
};

const isStateChange = (intent: Comment['intent']): intent is 'close' | 'reopen' =>
  intent === 'close' || intent === 'reopen';

const createPage = <L extends LoadedNoteable>(kind: CommentedKind<L>) =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:iid/notes`,
    audience: 'user',
    params: object({
      ...recordParams,
      body: optional(longText()),
      discussion_id: optional(text()),
      internal: optional(boolean()),
      resolve: optional(boolean()),
      seen_head: optional(text()),
      intent: oneOf(['comment', 'thread', 'close', 'reopen'], { default: 'comment' }),
    }),
    handle: async (visit, { project, iid, body: typed = '', ...input }) => {
      const { call } = visit;
      const loaded = await kind.find(call, project, iid);
      const { intent } = input;
      const { close } = kind;
      const isClosing = isStateChange(intent);
      if (isClosing && (close === undefined || !kind.noun.mayUpdate(call, loaded))) throw forbidden();
      let stored: Stored = { id: null, notice: undefined };
      const operation = async (): Promise<void> => {
        if (typed.trim() !== '' || !isClosing) {
          requireCommenter(call, loaded);
          const { discussion_id, resolve = false } = input;
          stored =
            resolve && discussion_id !== undefined
              ? await replyAndResolve(kind, call, loaded, { ...input, discussion_id, body: typed })
              : await storeComment(kind, call, loaded, { ...input, body: typed });
        }
        if (isStateChange(intent)) await close?.(call, loaded, intent);
      };
      // A comment is shown even if the browser hides comments.
      const filter =
        visit.preferences.activity_filter === 'only_activity' ? '?activity_filter=all_notes' : '';
      const next = (): string =>
        kind.path(loaded) + (stored.id === null ? '' : `${filter}#note_${stored.id}`);
      return await submitForm({ kind, visit, loaded }, operation, {
        typed,
        next,
        notice: () => stored.notice,
      });
    },
  });

const resolvePage = <L extends LoadedNoteable>(kind: CommentedKind<L>, verb: 'resolve' | 'unresolve') =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:iid/discussions/:discussion/${verb}`,
    audience: 'user',
    params: object({ ...recordParams, discussion: text() }),
    handle: async (visit, { project, iid, discussion: discussionId }) => {
      const { call } = visit;
      const loaded = await kind.find(call, project, iid);
      const { notes } = await findDiscussion(call, loaded.target, discussionId);
      requireResolver(call, loaded, notes);
      await resolveNotes(kind.noun, call, loaded, { notes, resolved: verb === 'resolve' });
      return redirect(`${kind.path(loaded)}#note_${notes[0].id}`);
    },
  });

/** Pages of comments whose threads are not resolved. */
export const plainCommentPages = <L extends LoadedNoteable>(kind: CommentedKind<L>) => [
  createPage(kind),
  ...emojiPages(kind),
];

export const commentPages = <L extends LoadedNoteable>(kind: CommentedKind<L>) => [
  ...plainCommentPages(kind),
  resolvePage(kind, 'resolve'),
  resolvePage(kind, 'unresolve'),
];
