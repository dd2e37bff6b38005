/** Comments, for any noun. */
import { type Call, endpoint } from '../access/call.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { id, idOrPath, longText, object, oneOf } from '../http/schema.ts';
import type { Found, Noun } from '../issuables/target.ts';
import { actOn, onlyActed } from './act.ts';
import { createNote } from './create.ts';
import { deleteNote } from './delete.ts';
import { type NoteRow, noteShape, notesJson } from './json.ts';
import { findNote, listNotes } from './queries.ts';
import { newNoteParams, requireNoteAdmin, requireOpen } from './rules.ts';
import { updateNote } from './update.ts';

/** What the calls of one noun share. */
const side = (noun: Noun) => {
  const path = `/projects/:id/${noun.segment}/:${noun.param}/notes`;
  return {
    noun,
    path,
    one: `${path}/:note_id`,
    word: noun.word,
    params: { id: idOrPath('project'), [noun.param]: id(`iid of the ${noun.word}`) },
    note_id: id('id of the note'),
    shared: { area: 'notes', audience: 'user', reply: noteShape } as const,
    find: (call: Call, given: Record<string, unknown>): Promise<Found> =>
      noun.find(call, given['id'] as number | string, given[noun.param] as number),
  };
};

type Side = ReturnType<typeof side>;

const render = async (call: Call, { target }: Found, note: NoteRow) =>
  (await notesJson(call, target, [note]))[0];

const list = ({ path, word, params, shared, find }: Side) =>
  endpoint({
    method: 'GET',
    path,
    summary: `Notes on a ${word}`,
    ...shared,
    polled: 10_000,
    list: true,
    params: object({
      ...params,
      order_by: oneOf(['created_at', 'updated_at'], { default: 'created_at' }),
      sort: oneOf(['asc', 'desc'], { default: 'desc' }),
      activity_filter: oneOf(['all_notes', 'only_comments', 'only_activity'], { default: 'all_notes' }),
      ...pageParams,
    }),
    handle: async (call, given) => {
      const { target } = await find(call, given);
      const { items, total } = await listNotes(call, target, given, pageRequest(given));
      return { items: await notesJson(call, target, items), total };
    },
  });

const get = ({ one, word, params, note_id, shared, find }: Side) =>
  endpoint({
    method: 'GET',
    path: one,
    summary: `One note on a ${word}`,
    ...shared,
    params: object({ ...params, note_id }),
    handle: async (call, given) => {
      const found = await find(call, given);
      return await render(call, found, await findNote(call, found.target, given.note_id));
    },
  });

const create = ({ noun, path, word, params, shared, find }: Side) =>
  endpoint({
    method: 'POST',
    path,
    summary: `Comment on a ${word}`,
    ...shared,
    params: object({ ...params, ...newNoteParams }),
    handle: async (call, given) => {
      requireOpen(given);
      const found = await find(call, given);
      const { body, done } = await actOn(noun, call, found, given.body);
      if (done !== null && body === '') return onlyActed(done);
      const note = await render(call, found, await createNote(noun, call, found, { ...given, body }));
      return done === null ? note : { ...note, commands_changes: done };
    },
  });

const update = ({ noun, one, word, params, note_id, shared, find }: Side) =>
  endpoint({
    method: 'PUT',
    path: one,
    summary: `Edit a comment on a ${word}`,
    ...shared,
    params: object({ ...params, note_id, body: longText() }),
    handle: async (call, given) => {
      const found = await find(call, given);
      const note = await findNote(call, found.target, given.note_id);
      requireNoteAdmin(call, found, note);
      return await render(call, found, await updateNote(noun, call, found, { note, body: given.body }));
    },
  });

const remove = ({ noun, one, word, params, note_id, shared, find }: Side) =>
  endpoint({
    method: 'DELETE',
    path: one,
    summary: `Delete a comment on a ${word}`,
    ...shared,
    reply: null,
    params: object({ ...params, note_id }),
    handle: async (call, given) => {
      const found = await find(call, given);
      const note = await findNote(call, found.target, given.note_id);
      requireNoteAdmin(call, found, note);
      await deleteNote(noun, call, found, note);
    },
  });

export const noteRoutes = (noun: Noun) => {
  const of = side(noun);
  return [list(of), get(of), create(of), update(of), remove(of)];
};
