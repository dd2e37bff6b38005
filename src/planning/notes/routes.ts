/** Endpoints of comments, for any noun. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { id, idOrPath, longText, object, oneOf } from '../../platform/http/schema.ts';
import { type LoadedNoteable, type NoteableNoun, describeParam, withArticle } from '../issuables/target.ts';
import { runQuickActions, toCommandsReply } from './quick_actions.ts';
import { createNote } from './create.ts';
import { deleteNote } from './delete.ts';
import { noteShape, notesJson } from './json.ts';
import type { NoteRow } from './note_row.ts';
import { activityFilters, findNote, listNotes } from './queries.ts';
import { newNoteParams, readInternal, requireInternalWriter, requireNoteAdmin } from './rules.ts';
import { updateNote } from './update.ts';

/** The parts that the endpoints of one noun share. */
const side = <L extends LoadedNoteable>(noun: NoteableNoun<L>) => {
  const path = `/projects/:id/${noun.segment}/:${noun.param}/notes`;
  return {
    noun,
    path,
    one: `${path}/:note_id`,
    word: noun.word,
    params: { id: idOrPath('project'), [noun.param]: id(describeParam(noun)) },
    note_id: id('id of the note'),
    shared: { area: 'notes', audience: 'user', reply: noteShape } as const,
    find: (call: Call, input: Record<string, unknown>): Promise<L> =>
      noun.find(call, input['id'] as number | string, input[noun.param] as number),
  };
};

type Side<L extends LoadedNoteable> = ReturnType<typeof side<L>>;

const render = async (call: Call, { target }: LoadedNoteable, note: NoteRow) =>
  (await notesJson(call, target, [note]))[0];

const list = <L extends LoadedNoteable>({ path, word, params, shared, find }: Side<L>) =>
  endpoint({
    method: 'GET',
    path,
    summary: `List comments on ${withArticle(word)}`,
    ...shared,
    polled: 10_000,
    list: true,
    params: object({
      ...params,
      order_by: oneOf(['created_at', 'updated_at'], { default: 'created_at' }),
      sort: oneOf(['asc', 'desc'], { default: 'desc' }),
      activity_filter: oneOf(activityFilters, { default: 'all_notes' }),
      ...pageParams,
    }),
    handle: async (call, params) => {
      const { target } = await find(call, params);
      const { items, total } = await listNotes(call, target, params, pageRequest(params));
      return { items: await notesJson(call, target, items), total };
    },
  });

const get = <L extends LoadedNoteable>({ one, word, params, note_id, shared, find }: Side<L>) =>
  endpoint({
    method: 'GET',
    path: one,
    summary: `Get a comment on ${withArticle(word)}`,
    ...shared,
    params: object({ ...params, note_id }),
    handle: async (call, params) => {
      const loaded = await find(call, params);
      return await render(call, loaded, await findNote(call, loaded.target, params.note_id));
    },
  });

const create = <L extends LoadedNoteable>({ noun, path, word, params, shared, find }: Side<L>) =>
  endpoint({
    method: 'POST',
    path,
    summary: `Create a comment on ${withArticle(word)}`,
    ...shared,
    params: object({ ...params, ...newNoteParams }),
    handle: async (call, params) => {
      const internal = readInternal(params);
      const loaded = await find(call, params);
      if (internal) requireInternalWriter(call, loaded);
      const { body, done } = await runQuickActions(noun, call, loaded, { body: params.body });
      if (done !== null && body === '') return toCommandsReply(done);
      const note = await render(
        call,
        loaded,
        await createNote(noun, call, loaded, { ...params, body, internal }),
      );
      return done === null ? note : { ...note, commands_changes: done };
    },
  });

const update = <L extends LoadedNoteable>({ noun, one, word, params, note_id, shared, find }: Side<L>) =>
  endpoint({
    method: 'PUT',
    path: one,
    summary: `Update a comment on ${withArticle(word)}`,
    ...shared,
    params: object({ ...params, note_id, body: longText() }),
    handle: async (call, params) => {
      const loaded = await find(call, params);
      const note = await findNote(call, loaded.target, params.note_id);
      requireNoteAdmin(call, loaded, note);
      return await render(call, loaded, await updateNote(noun, call, loaded, { note, body: params.body }));
    },
  });

const remove = <L extends LoadedNoteable>({ noun, one, word, params, note_id, shared, find }: Side<L>) =>
  endpoint({
    method: 'DELETE',
    path: one,
    summary: `Delete a comment on ${withArticle(word)}`,
    ...shared,
    reply: null,
    params: object({ ...params, note_id }),
    handle: async (call, params) => {
      const loaded = await find(call, params);
      const note = await findNote(call, loaded.target, params.note_id);
      requireNoteAdmin(call, loaded, note);
      await deleteNote(noun, call, loaded, note);
    },
  });

export const noteRoutes = <L extends LoadedNoteable>(noun: NoteableNoun<L>) => {
  const forNoun = side(noun);
  return [list(forNoun), get(forNoun), create(forNoun), update(forNoun), remove(forNoun)];
};
