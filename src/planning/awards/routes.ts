/** Endpoints of award emoji, for any noun and for comments. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { id, idOrPath, object, text } from '../../platform/http/schema.ts';
import { type LoadedNoteable, type NoteableNoun, describeParam, withArticle } from '../issuables/target.ts';
import { findNote } from '../notes/queries.ts';
import { createAward } from './create.ts';
import { deleteAward } from './delete.ts';
import { type AwardRow, awardShape, awardsJson } from './json.ts';
import { type Awardable, findAward, listAwards } from './queries.ts';

type Input = Record<string, unknown>;
type Subject<L extends LoadedNoteable> = { loaded: L; awardable: Awardable };

const ofTarget = ({ target: { type, id: targetId } }: LoadedNoteable): Awardable => ({
  type,
  id: targetId,
  system: false,
});

const ofNote = async (call: Call, { target }: LoadedNoteable, noteId: number): Promise<Awardable> => {
  const note = await findNote(call, target, noteId);
  return { type: 'Note', id: note.id, system: note.system === 1 };
};

/** The parts that the endpoints of one kind of record share. */
const side = <L extends LoadedNoteable>(noun: NoteableNoun<L>, on: 'target' | 'note') => {
  const target = `/projects/:id/${noun.segment}/:${noun.param}`;
  const path = on === 'target' ? `${target}/award_emoji` : `${target}/notes/:note_id/award_emoji`;
  return {
    noun,
    path,
    one: `${path}/:award_id`,
    word: on === 'target' ? noun.word : `note on ${withArticle(noun.word)}`,
    params: {
      id: idOrPath('project'),
      [noun.param]: id(describeParam(noun)),
      ...(on === 'note' && { note_id: id('id of the note') }),
    },
    award_id: id('id of the award'),
    shared: { area: 'award_emoji', audience: 'user', reply: awardShape } as const,
    find: async (call: Call, input: Input): Promise<Subject<L>> => {
      const loaded = await noun.find(call, input['id'] as number | string, input[noun.param] as number);
      if (on === 'target') return { loaded, awardable: ofTarget(loaded) };
      return { loaded, awardable: await ofNote(call, loaded, input['note_id'] as number) };
    },
  };
};

type Side<L extends LoadedNoteable> = ReturnType<typeof side<L>>;

const render = async (call: Call, award: AwardRow) => (await awardsJson(call, [award]))[0];

const list = <L extends LoadedNoteable>({ path, word, params, shared, find }: Side<L>) =>
  endpoint({
    method: 'GET',
    path,
    summary: `List award emoji of ${withArticle(word)}`,
    ...shared,
    list: true,
    params: object({ ...params, ...pageParams }),
    handle: async (call, params) => {
      const { awardable } = await find(call, params);
      const { items, total } = await listAwards(call.db, awardable, pageRequest(params));
      return { items: await awardsJson(call, items), total };
    },
  });

const get = <L extends LoadedNoteable>({ one, word, params, award_id, shared, find }: Side<L>) =>
  endpoint({
    method: 'GET',
    path: one,
    summary: `Get an award emoji of ${withArticle(word)}`,
    ...shared,
    params: object({ ...params, award_id }),
    handle: async (call, params) => {
      const { awardable } = await find(call, params);
      return await render(call, await findAward(call.db, awardable, params.award_id));
    },
  });

const create = <L extends LoadedNoteable>({ noun, path, word, params, shared, find }: Side<L>) =>
  endpoint({
    method: 'POST',
    path,
    summary: `Add an award emoji to ${withArticle(word)}`,
    ...shared,
    params: object({ ...params, name: text({ description: 'such as thumbsup' }) }),
    handle: async (call, params) =>
      await render(call, await createAward(noun, call, await find(call, params), params.name)),
  });

const remove = <L extends LoadedNoteable>({ noun, one, word, params, award_id, shared, find }: Side<L>) =>
  endpoint({
    method: 'DELETE',
    path: one,
    summary: `Remove an award emoji of ${withArticle(word)}`,
    ...shared,
    reply: null,
    params: object({ ...params, award_id }),
    handle: async (call, params) => {
      const subject = await find(call, params);
      await deleteAward(noun, call, subject, await findAward(call.db, subject.awardable, params.award_id));
    },
  });

const makeAwardRoutes = <L extends LoadedNoteable>(side: Side<L>) => [
  list(side),
  get(side),
  create(side),
  remove(side),
];

export const awardRoutes = <L extends LoadedNoteable>(noun: NoteableNoun<L>) => [
  ...makeAwardRoutes(side(noun, 'target')),
  ...makeAwardRoutes(side(noun, 'note')),
];
