/** Discussions: comments that answer each other, for any noun. */
import { type Call, endpoint } from '../access/call.ts';
import { badRequest } from '../errors.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { boolean, id, idOrPath, longText, object, optional, text } from '../http/schema.ts';
import type { Found, Noun } from '../issuables/target.ts';
import { actOn, onlyActed } from '../notes/act.ts';
import { deleteNote } from '../notes/delete.ts';
import { type NoteRow, noteShape, notesJson } from '../notes/json.ts';
import { findNote } from '../notes/queries.ts';
import { newNoteParams, requireNoteAdmin, requireOpen } from '../notes/rules.ts';
import { updateNote } from '../notes/update.ts';
import { createDiscussion, replyTo } from './create.ts';
import { discussionShape, discussionsJson } from './json.ts';
import { placeInDiff } from './place.ts';
import { positionParam, readPosition } from './position.ts';
import { type Discussion, findDiscussion, findNoteOf, listDiscussions } from './queries.ts';
import { resolveNotes } from './resolve.ts';
import { requireResolver } from './rules.ts';

/** What the calls of one noun share. */
const side = (noun: Noun) => {
  const path = `/projects/:id/${noun.segment}/:${noun.param}/discussions`;
  return {
    noun,
    path,
    one: `${path}/:discussion_id`,
    note: `${path}/:discussion_id/notes/:note_id`,
    word: noun.word,
    params: { id: idOrPath('project'), [noun.param]: id(`iid of the ${noun.word}`) },
    discussion_id: text({ description: 'id of the discussion' }),
    note_id: id('id of the note'),
    shared: { area: 'discussions', audience: 'user' } as const,
    find: (call: Call, given: Record<string, unknown>): Promise<Found> =>
      noun.find(call, given['id'] as number | string, given[noun.param] as number),
  };
};

type Side = ReturnType<typeof side>;

const render = async (call: Call, { target }: Found, discussion: Discussion) =>
  (await discussionsJson(call, target, [discussion]))[0];

const renderNote = async (call: Call, { target }: Found, note: NoteRow) =>
  (await notesJson(call, target, [note]))[0];

const list = ({ path, word, params, shared, find }: Side) =>
  endpoint({
    method: 'GET',
    path,
    summary: `Discussions on a ${word}, the oldest first`,
    ...shared,
    reply: discussionShape,
    list: true,
    params: object({ ...params, ...pageParams }),
    handle: async (call, given) => {
      const { target } = await find(call, given);
      const { items, total } = await listDiscussions(call, target, pageRequest(given));
      return { items: await discussionsJson(call, target, items), total };
    },
  });

const get = ({ one, word, params, discussion_id, shared, find }: Side) =>
  endpoint({
    method: 'GET',
    path: one,
    summary: `One discussion on a ${word}`,
    ...shared,
    reply: discussionShape,
    params: object({ ...params, discussion_id }),
    handle: async (call, given) => {
      const found = await find(call, given);
      return await render(call, found, await findDiscussion(call, found.target, given.discussion_id));
    },
  });

const create = ({ noun, path, word, params, shared, find }: Side) =>
  endpoint({
    method: 'POST',
    path,
    summary: `Begin a discussion on a ${word}`,
    ...shared,
    reply: discussionShape,
    params: object({
      ...params,
      ...newNoteParams,
      ...(noun.type === 'MergeRequest' && { position: optional(positionParam) }),
    }),
    handle: async (call, given) => {
      requireOpen(given);
      const asked = readPosition((given as { position?: unknown }).position);
      const found = await find(call, given);
      const position = asked === null ? null : await placeInDiff(call, found, asked);
      const { body, done } = await actOn(noun, call, found, given.body);
      if (done !== null && body === '') return onlyActed(done);
      return await render(
        call,
        found,
        await createDiscussion(noun, call, found, { ...given, body, position }),
      );
    },
  });

const reply = ({ noun, one, word, params, discussion_id, shared, find }: Side) =>
  endpoint({
    method: 'POST',
    path: `${one}/notes`,
    summary: `Reply in a discussion on a ${word}`,
    ...shared,
    reply: noteShape,
    params: object({ ...params, discussion_id, ...newNoteParams }),
    handle: async (call, given) => {
      requireOpen(given);
      const found = await find(call, given);
      await findDiscussion(call, found.target, given.discussion_id);
      const { body, done } = await actOn(noun, call, found, given.body);
      if (done !== null && body === '') return onlyActed(done);
      return await renderNote(call, found, await replyTo(noun, call, found, { ...given, body }));
    },
  });

const resolve = ({ noun, one, word, params, discussion_id, shared, find }: Side) =>
  endpoint({
    method: 'PUT',
    path: one,
    summary: `Resolve a discussion on a ${word}, or open it again`,
    ...shared,
    reply: discussionShape,
    params: object({ ...params, discussion_id, resolved: boolean() }),
    handle: async (call, given) => {
      const found = await find(call, given);
      const discussion = await findDiscussion(call, found.target, given.discussion_id);
      requireResolver(call, found, discussion.notes);
      await resolveNotes(noun, call, found, { notes: discussion.notes, resolved: given.resolved });
      return await render(call, found, await findDiscussion(call, found.target, discussion.id));
    },
  });

const getNote = ({ note: path, word, params, discussion_id, note_id, shared, find }: Side) =>
  endpoint({
    method: 'GET',
    path,
    summary: `One comment in a discussion on a ${word}`,
    ...shared,
    reply: noteShape,
    params: object({ ...params, discussion_id, note_id }),
    handle: async (call, given) => {
      const found = await find(call, given);
      const discussion = await findDiscussion(call, found.target, given.discussion_id);
      return await renderNote(call, found, findNoteOf(discussion, given.note_id));
    },
  });

const update = ({ noun, note: path, word, params, discussion_id, note_id, shared, find }: Side) =>
  endpoint({
    method: 'PUT',
    path,
    summary: `Edit or resolve a comment in a discussion on a ${word}`,
    ...shared,
    reply: noteShape,
    params: object({
      ...params,
      discussion_id,
      note_id,
      body: optional(longText()),
      resolved: optional(boolean()),
    }),
    handle: async (call, given) => {
      const { body, resolved } = given;
      if ((body === undefined) === (resolved === undefined)) {
        throw badRequest('exactly one of body, resolved must be given');
      }
      const found = await find(call, given);
      const { target } = found;
      const discussion = await findDiscussion(call, target, given.discussion_id);
      const note = findNoteOf(discussion, given.note_id);
      if (body !== undefined) {
        requireNoteAdmin(call, found, note);
        return await renderNote(call, found, await updateNote(noun, call, found, { note, body }));
      }
      requireResolver(call, found, [note]);
      await resolveNotes(noun, call, found, { notes: [note], resolved: resolved === true });
      return await renderNote(call, found, await findNote(call, target, note.id));
    },
  });

const remove = ({ noun, note: path, word, params, discussion_id, note_id, shared, find }: Side) =>
  endpoint({
    method: 'DELETE',
    path,
    summary: `Delete a comment in a discussion on a ${word}`,
    ...shared,
    reply: null,
    params: object({ ...params, discussion_id, note_id }),
    handle: async (call, given) => {
      const found = await find(call, given);
      const discussion = await findDiscussion(call, found.target, given.discussion_id);
      const note = findNoteOf(discussion, given.note_id);
      requireNoteAdmin(call, found, note);
      await deleteNote(noun, call, found, note);
    },
  });

export const discussionRoutes = (noun: Noun) => {
  const of = side(noun);
  return [list(of), get(of), create(of), resolve(of), reply(of), getNote(of), update(of), remove(of)];
};
