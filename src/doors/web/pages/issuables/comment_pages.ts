/** Forms of comments: new ones, replies, threads and reactions. */
import type { Call } from '../../../../core/access/call.ts';
import { createAward } from '../../../../planning/awards/create.ts';
import { deleteAward } from '../../../../planning/awards/delete.ts';
import { type Awardable, findOwnAward } from '../../../../planning/awards/queries.ts';
import { checkAwardName } from '../../../../planning/awards/rules.ts';
import { addReply, createDiscussion } from '../../../../planning/discussions/create.ts';
import { findDiscussion } from '../../../../planning/discussions/queries.ts';
import { resolveNotes } from '../../../../planning/discussions/resolve.ts';
import { requireResolver } from '../../../../planning/discussions/resolve_and_reply_rules.ts';
import type { LoadedNoteable, NounActions } from '../../../../planning/issuables/target.ts';
import { createNote } from '../../../../planning/notes/create.ts';
import { findNote } from '../../../../planning/notes/queries.ts';
import { runQuickActions } from '../../../../planning/notes/quick_actions.ts';
import { requireCommenter, requireInternalWriter } from '../../../../planning/notes/rules.ts';
import { forbidden } from '../../../../platform/errors.ts';
import { boolean, id, longText, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { page, redirect } from '../../page.ts';
import { type CommentedKind, recordParams } from './issuable_kind.ts';
import { submitForm } from './submit_form.ts';

type Comment = {
  body: string;
  intent: 'comment' | 'thread' | 'close' | 'reopen';
  discussion_id?: string | undefined;
  internal?: boolean | undefined;
};

type Nouns<L extends LoadedNoteable> = Pick<CommentedKind<L>, 'noun' | 'commented'>;

/** Stores a comment after its quick actions, as the API does. @returns its id; null: it had only actions */
const storeComment = async <L extends LoadedNoteable>(
  { noun, commented }: Nouns<L>,
  call: Call,
  loaded: L,
  { body: typed, intent, discussion_id, internal = false }: Comment,
): Promise<number | null> => {
  if (discussion_id !== undefined) await findDiscussion(call, loaded.target, discussion_id);
  if (internal) requireInternalWriter(call, loaded);
  const { body, done } = await runQuickActions(commented, call, loaded, typed);
  if (done !== null && body === '') return null;
  if (discussion_id !== undefined) return (await addReply(noun, call, loaded, { body, discussion_id })).id;
  if (intent === 'thread') {
    return (await createDiscussion(noun, call, loaded, { body, internal, position: null })).notes[0].id;
  }
  return (await createNote(noun, call, loaded, { body, internal })).id;
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
      intent: oneOf(['comment', 'thread', 'close', 'reopen'], { default: 'comment' }),
    }),
    handle: async (visit, { project, iid, body = '', ...given }) => {
      const { call } = visit;
      const loaded = await kind.find(call, project, iid);
      const { intent } = given;
      const { close } = kind;
      const isClosing = isStateChange(intent);
      if (isClosing && (close === undefined || !kind.noun.mayUpdate(call, loaded))) throw forbidden();
      const typed = body.replaceAll('\r\n', '\n');
      let noteId: number | null = null;
      const operation = async (): Promise<void> => {
        if (typed.trim() !== '' || !isClosing) {
          requireCommenter(call, loaded);
          noteId = await storeComment(kind, call, loaded, { ...given, body: typed });
        }
        if (isStateChange(intent)) await close?.(call, loaded, intent);
      };
      // A comment is shown even where the browser hides comments.
      const filter =
        visit.preferences.activity_filter === 'only_activity' ? '?activity_filter=all_notes' : '';
      const next = (): string => kind.path(loaded) + (noteId === null ? '' : `${filter}#note_${noteId}`);
      return await submitForm({ kind, visit, loaded }, operation, { typed, next });
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

/** Adds the caller's reaction, or removes it if they have it. */
const toggleAward = async <L extends LoadedNoteable>(
  noun: NounActions<L>,
  call: Call,
  loaded: L,
  { name, note_id }: { name: string; note_id?: number | undefined },
): Promise<void> => {
  const note = note_id === undefined ? null : await findNote(call, loaded.target, note_id);
  const awardable: Awardable =
    note === null
      ? { type: noun.type, id: loaded.target.id, system: false }
      : { type: 'Note', id: note.id, system: note.system === 1 };
  const subject = { loaded, awardable };
  const own = await findOwnAward(call, awardable, checkAwardName(name));
  if (own === undefined) await createAward(noun, call, subject, name);
  else await deleteAward(noun, call, subject, own);
};

const awardPage = <L extends LoadedNoteable>(kind: CommentedKind<L>) =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:iid/award_emoji`,
    audience: 'user',
    params: object({ ...recordParams, name: optional(text()), note_id: optional(id()) }),
    handle: async ({ call }, { project, iid, name = '', note_id }) => {
      const loaded = await kind.find(call, project, iid);
      await toggleAward(kind.noun, call, loaded, { name, note_id });
      return redirect(kind.path(loaded) + (note_id === undefined ? '' : `#note_${note_id}`));
    },
  });

/** Pages of comments whose threads are not resolved. */
export const plainCommentPages = <L extends LoadedNoteable>(kind: CommentedKind<L>) => [
  createPage(kind),
  awardPage(kind),
];

export const commentPages = <L extends LoadedNoteable>(kind: CommentedKind<L>) => [
  ...plainCommentPages(kind),
  resolvePage(kind, 'resolve'),
  resolvePage(kind, 'unresolve'),
];
