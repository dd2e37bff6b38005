/** Endpoints of discussions (threads of comments), for any noun. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { badRequest } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { boolean, id, idOrPath, longText, object, optional, text } from '../../platform/http/schema.ts';
import { type LoadedNoteable, type NoteableNoun, describeParam, withArticle } from '../issuables/target.ts';
import { runQuickActions, toCommandsReply } from '../notes/quick_actions.ts';
import { deleteNote } from '../notes/delete.ts';
import { noteShape, notesJson } from '../notes/json.ts';
import type { NoteRow } from '../notes/note_row.ts';
import { findNote } from '../notes/queries.ts';
import { newNoteParams, readInternal, requireInternalWriter, requireNoteAdmin } from '../notes/rules.ts';
import { updateNote } from '../notes/update.ts';
import { createDiscussion, addReply } from './create.ts';
import { discussionShape, discussionsJson } from './json.ts';
import { locateInDiff } from './find_line.ts';
import { positionParam, readPosition } from './position_param.ts';
import { type Discussion, findDiscussion, findNoteIn, listDiscussions } from './queries.ts';
import { resolveNotes } from './resolve.ts';
import { requireResolver, requireSameAudience } from './resolve_and_reply_rules.ts';

/** The parts that the endpoints of one noun share. */
const describeNoun = <L extends LoadedNoteable>(noun: NoteableNoun<L>) => {
  const path = `/projects/:id/${noun.segment}/:${noun.param}/discussions`;
  return {
    noun,
    path,
    one: `${path}/:discussion_id`,
    note: `${path}/:discussion_id/notes/:note_id`,
    word: noun.word,
    params: { id: idOrPath('project'), [noun.param]: id(describeParam(noun)) },
    discussion_id: text({ description: 'id of the discussion' }),
    note_id: id('id of the note'),
    shared: { area: 'discussions', audience: 'user' } as const,
    find: (call: Call, input: Record<string, unknown>): Promise<L> =>
      noun.find(call, input['id'] as number | string, input[noun.param] as number),
  };
};

type NounParts<L extends LoadedNoteable> = ReturnType<typeof describeNoun<L>>;

const render = async (call: Call, { target }: LoadedNoteable, discussion: Discussion) =>
  (await discussionsJson(call, target, [discussion]))[0];

const renderNote = async (call: Call, { target }: LoadedNoteable, note: NoteRow) =>
  (await notesJson(call, target, [note]))[0];

const list = <L extends LoadedNoteable>({ noun, path, word, params, shared, find }: NounParts<L>) =>
  endpoint({
    method: 'GET',
    path,
    summary: `List discussions on ${withArticle(word)}, oldest first`,
    ...shared,
    reply: discussionShape,
    list: true,
    // Suggestions to a merge request are compared with its repository.
    ...(noun.type === 'Issue' && { cached: true }),
    params: object({ ...params, ...pageParams }),
    handle: async (call, params) => {
      const { target } = await find(call, params);
      const { items, total } = await listDiscussions(call, target, pageRequest(params));
      return { items: await discussionsJson(call, target, items), total };
    },
  });

const get = <L extends LoadedNoteable>({ one, word, params, discussion_id, shared, find }: NounParts<L>) =>
  endpoint({
    method: 'GET',
    path: one,
    summary: `Get a discussion on ${withArticle(word)}`,
    ...shared,
    reply: discussionShape,
    params: object({ ...params, discussion_id }),
    handle: async (call, params) => {
      const loaded = await find(call, params);
      return await render(call, loaded, await findDiscussion(call, loaded.target, params.discussion_id));
    },
  });

const create = <L extends LoadedNoteable>({ noun, path, word, params, shared, find }: NounParts<L>) =>
  endpoint({
    method: 'POST',
    path,
    summary: `Start a discussion on ${withArticle(word)}`,
    ...shared,
    reply: discussionShape,
    params: object({
      ...params,
      ...newNoteParams,
      ...(noun.type === 'MergeRequest' && { position: optional(positionParam) }),
    }),
    handle: async (call, params) => {
      const internal = readInternal(params);
      const requested = readPosition((params as { position?: unknown }).position);
      const loaded = await find(call, params);
      if (internal) requireInternalWriter(call, loaded);
      const position = requested === null ? null : await locateInDiff(call, loaded, requested);
      const { body, done } = await runQuickActions(noun, call, loaded, { body: params.body });
      if (done !== null && body === '') return toCommandsReply(done);
      return await render(
        call,
        loaded,
        await createDiscussion(noun, call, loaded, { ...params, body, internal, position }),
      );
    },
  });

const reply = <L extends LoadedNoteable>({
  noun,
  one,
  word,
  params,
  discussion_id,
  shared,
  find,
}: NounParts<L>) =>
  endpoint({
    method: 'POST',
    path: `${one}/notes`,
    summary: `Reply to a discussion on ${withArticle(word)}`,
    ...shared,
    reply: noteShape,
    params: object({ ...params, discussion_id, ...newNoteParams }),
    handle: async (call, params) => {
      const internal = readInternal(params);
      const loaded = await find(call, params);
      const { notes } = await findDiscussion(call, loaded.target, params.discussion_id);
      requireSameAudience(notes, internal);
      const { body, done } = await runQuickActions(noun, call, loaded, { body: params.body });
      if (done !== null && body === '') return toCommandsReply(done);
      return await renderNote(
        call,
        loaded,
        await addReply(noun, call, loaded, { ...params, body, internal }),
      );
    },
  });

const resolve = <L extends LoadedNoteable>({
  noun,
  one,
  word,
  params,
  discussion_id,
  shared,
  find,
}: NounParts<L>) =>
  endpoint({
    method: 'PUT',
    path: one,
    summary: `Resolve or reopen a discussion on ${withArticle(word)}`,
    ...shared,
    reply: discussionShape,
    params: object({ ...params, discussion_id, resolved: boolean() }),
    handle: async (call, params) => {
      const loaded = await find(call, params);
      const discussion = await findDiscussion(call, loaded.target, params.discussion_id);
      requireResolver(call, loaded, discussion.notes);
      await resolveNotes(noun, call, loaded, { notes: discussion.notes, resolved: params.resolved });
      return await render(call, loaded, await findDiscussion(call, loaded.target, discussion.id));
    },
  });

const getNote = <L extends LoadedNoteable>({
  note: path,
  word,
  params,
  discussion_id,
  note_id,
  shared,
  find,
}: NounParts<L>) =>
  endpoint({
    method: 'GET',
    path,
    summary: `Get a comment in a discussion on ${withArticle(word)}`,
    ...shared,
    reply: noteShape,
    params: object({ ...params, discussion_id, note_id }),
    handle: async (call, params) => {
      const loaded = await find(call, params);
      const discussion = await findDiscussion(call, loaded.target, params.discussion_id);
      return await renderNote(call, loaded, findNoteIn(discussion, params.note_id));
    },
  });

const update = <L extends LoadedNoteable>({
  noun,
  note: path,
  word,
  params,
  discussion_id,
  note_id,
  shared,
  find,
}: NounParts<L>) =>
  endpoint({
    method: 'PUT',
    path,
    summary: `Update or resolve a comment in a discussion on ${withArticle(word)}`,
    ...shared,
    reply: noteShape,
    params: object({
      ...params,
      discussion_id,
      note_id,
      body: optional(longText()),
      resolved: optional(boolean()),
    }),
    handle: async (call, params) => {
      const { body, resolved } = params;
      if ((body === undefined) === (resolved === undefined)) {
        throw badRequest('exactly one of body, resolved must be given');
      }
      const loaded = await find(call, params);
      const { target } = loaded;
      const discussion = await findDiscussion(call, target, params.discussion_id);
      const note = findNoteIn(discussion, params.note_id);
      if (body !== undefined) {
        requireNoteAdmin(call, loaded, note);
        return await renderNote(call, loaded, await updateNote(noun, call, loaded, { note, body }));
      }
      requireResolver(call, loaded, [note]);
      await resolveNotes(noun, call, loaded, { notes: [note], resolved: resolved === true });
      return await renderNote(call, loaded, await findNote(call, target, note.id));
    },
  });

const remove = <L extends LoadedNoteable>({
  noun,
  note: path,
  word,
  params,
  discussion_id,
  note_id,
  shared,
  find,
}: NounParts<L>) =>
  endpoint({
    method: 'DELETE',
    path,
    summary: `Delete a comment in a discussion on ${withArticle(word)}`,
    ...shared,
    reply: null,
    params: object({ ...params, discussion_id, note_id }),
    handle: async (call, params) => {
      const loaded = await find(call, params);
      const discussion = await findDiscussion(call, loaded.target, params.discussion_id);
      const note = findNoteIn(discussion, params.note_id);
      requireNoteAdmin(call, loaded, note);
      await deleteNote(noun, call, loaded, note);
    },
  });

/** @returns the endpoints; threads on snippets are not resolved */
export const discussionRoutes = <L extends LoadedNoteable>(noun: NoteableNoun<L>) => {
  const forNoun = describeNoun(noun);
  return [
    list(forNoun),
    get(forNoun),
    create(forNoun),
    ...(noun.type === 'Snippet' ? [] : [resolve(forNoun)]),
    reply(forNoun),
    getNote(forNoun),
    update(forNoun),
    remove(forNoun),
  ];
};
