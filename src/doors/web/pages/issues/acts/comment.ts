/** Forms of comments: new ones, replies, edits, threads and reactions. */
import { createAward } from '../../../../../planning/awards/create.ts';
import { deleteAward } from '../../../../../planning/awards/delete.ts';
import { type Awardable, findOwnAward } from '../../../../../planning/awards/queries.ts';
import { checkAwardName } from '../../../../../planning/awards/rules.ts';
import { addReply, createDiscussion } from '../../../../../planning/discussions/create.ts';
import { findDiscussion } from '../../../../../planning/discussions/queries.ts';
import { resolveNotes } from '../../../../../planning/discussions/resolve.ts';
import { requireResolver } from '../../../../../planning/discussions/resolve_and_reply_rules.ts';
import { type LoadedIssue, findIssue, reloadIssue } from '../../../../../planning/issues/find.ts';
import { issueNoun } from '../../../../../planning/issues/noun.ts';
import { commentedIssue } from '../../../../../planning/issues/quick_actions.ts';
import { updateIssue } from '../../../../../planning/issues/update.ts';
import { createNote } from '../../../../../planning/notes/create.ts';
import { findNote } from '../../../../../planning/notes/queries.ts';
import { runQuickActions } from '../../../../../planning/notes/quick_actions.ts';
import { requireCommenter } from '../../../../../planning/notes/rules.ts';
import { forbidden } from '../../../../../platform/errors.ts';
import { id, longText, object, oneOf, optional, text } from '../../../../../platform/http/schema.ts';
import { type Visit, page, redirect } from '../../../page.ts';
import { issuePath, oneIssue, servedIssues } from '../find.ts';
import { submit } from './submit.ts';

type Comment = {
  body: string;
  intent: 'comment' | 'thread' | 'close' | 'reopen';
  discussion_id?: string | undefined;
};

/** Stores a comment after its quick actions, as the API does. @returns its id; null: it had only actions */
const storeComment = async (
  { call }: Visit,
  loaded: LoadedIssue,
  { body: typed, intent, discussion_id }: Comment,
): Promise<number | null> => {
  if (discussion_id !== undefined) await findDiscussion(call, loaded.target, discussion_id);
  const { body, done } = await runQuickActions(commentedIssue, call, loaded, typed);
  if (done !== null && body === '') return null;
  if (discussion_id !== undefined) {
    return (await addReply(issueNoun, call, loaded, { body, discussion_id })).id;
  }
  if (intent === 'thread') {
    return (await createDiscussion(issueNoun, call, loaded, { body, position: null })).notes[0].id;
  }
  return (await createNote(issueNoun, call, loaded, { body })).id;
};

const changeState = async (
  { call }: Visit,
  loaded: LoadedIssue,
  intent: 'close' | 'reopen',
): Promise<void> => {
  const current = await reloadIssue(call.db, loaded.project, loaded.target.id);
  await updateIssue(call, current, { state_event: intent });
};

const isStateChange = (intent: Comment['intent']): intent is 'close' | 'reopen' =>
  intent === 'close' || intent === 'reopen';

const create = page({
  method: 'POST',
  path: `${servedIssues}/:iid/notes`,
  audience: 'user',
  params: object({
    ...oneIssue,
    body: optional(longText()),
    discussion_id: optional(text()),
    intent: oneOf(['comment', 'thread', 'close', 'reopen'], { default: 'comment' }),
  }),
  handle: async (visit, { project, iid, body = '', ...given }) => {
    const { call } = visit;
    const loaded = await findIssue(call, project, iid);
    const { intent } = given;
    if (isStateChange(intent) && !issueNoun.mayUpdate(call, loaded)) throw forbidden();
    const typed = body.replaceAll('\r\n', '\n');
    let noteId: number | null = null;
    const operation = async (): Promise<void> => {
      if (typed.trim() !== '' || !isStateChange(intent)) {
        requireCommenter(call, loaded);
        noteId = await storeComment(visit, loaded, { ...given, body: typed });
      }
      if (isStateChange(intent)) await changeState(visit, loaded, intent);
    };
    const next = (): string => issuePath(loaded) + (noteId === null ? '' : `#note_${noteId}`);
    return await submit(visit, loaded, operation, { typed, next });
  },
});

const resolve = (verb: 'resolve' | 'unresolve') =>
  page({
    method: 'POST',
    path: `${servedIssues}/:iid/discussions/:discussion/${verb}`,
    audience: 'user',
    params: object({ ...oneIssue, discussion: text() }),
    handle: async (visit, { project, iid, discussion: discussionId }) => {
      const { call } = visit;
      const loaded = await findIssue(call, project, iid);
      const { notes } = await findDiscussion(call, loaded.target, discussionId);
      requireResolver(call, loaded, notes);
      await resolveNotes(issueNoun, call, loaded, { notes, resolved: verb === 'resolve' });
      return redirect(`${issuePath(loaded)}#note_${notes[0].id}`);
    },
  });

/** Adds the caller's reaction, or removes it if they have it. */
const toggleAward = async (
  { call }: Visit,
  loaded: LoadedIssue,
  { name, note_id }: { name: string; note_id?: number | undefined },
): Promise<void> => {
  const note = note_id === undefined ? null : await findNote(call, loaded.target, note_id);
  const awardable: Awardable =
    note === null
      ? { type: 'Issue', id: loaded.target.id, system: false }
      : { type: 'Note', id: note.id, system: note.system === 1 };
  const subject = { loaded, awardable };
  const own = await findOwnAward(call, awardable, checkAwardName(name));
  if (own === undefined) await createAward(issueNoun, call, subject, name);
  else await deleteAward(issueNoun, call, subject, own);
};

const award = page({
  method: 'POST',
  path: `${servedIssues}/:iid/award_emoji`,
  audience: 'user',
  params: object({ ...oneIssue, name: optional(text()), note_id: optional(id()) }),
  handle: async (visit, { project, iid, name = '', note_id }) => {
    const loaded = await findIssue(visit.call, project, iid);
    await toggleAward(visit, loaded, { name, note_id });
    return redirect(issuePath(loaded) + (note_id === undefined ? '' : `#note_${note_id}`));
  },
});

export const commentPages = [create, resolve('resolve'), resolve('unresolve'), award];
