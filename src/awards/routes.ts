/** Award emoji, for any noun and for the comments on it. */
import { type Call, endpoint } from '../access/call.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { id, idOrPath, object, text } from '../http/schema.ts';
import type { Found, Noun } from '../issuables/target.ts';
import { findNote } from '../notes/queries.ts';
import { createAward } from './create.ts';
import { deleteAward } from './delete.ts';
import { type AwardRow, awardShape, awardsJson } from './json.ts';
import { type Awardable, findAward, listAwards } from './queries.ts';

type Given = Record<string, unknown>;
type Subject = { found: Found; awardable: Awardable };

const ofTarget = ({ target: { type, id: targetId } }: Found): Awardable => ({
  type,
  id: targetId,
  system: false,
});

const ofNote = async (call: Call, { target }: Found, noteId: number): Promise<Awardable> => {
  const note = await findNote(call, target, noteId);
  return { type: 'Note', id: note.id, system: note.system === 1 };
};

/** What the calls on one kind of record share. */
const side = (noun: Noun, on: 'target' | 'note') => {
  const target = `/projects/:id/${noun.segment}/:${noun.param}`;
  const path = on === 'target' ? `${target}/award_emoji` : `${target}/notes/:note_id/award_emoji`;
  return {
    noun,
    path,
    one: `${path}/:award_id`,
    word: on === 'target' ? noun.word : `note on a ${noun.word}`,
    params: {
      id: idOrPath('project'),
      [noun.param]: id(`iid of the ${noun.word}`),
      ...(on === 'note' && { note_id: id('id of the note') }),
    },
    award_id: id('id of the award'),
    shared: { area: 'award_emoji', audience: 'user', reply: awardShape } as const,
    find: async (call: Call, given: Given): Promise<Subject> => {
      const found = await noun.find(call, given['id'] as number | string, given[noun.param] as number);
      if (on === 'target') return { found, awardable: ofTarget(found) };
      return { found, awardable: await ofNote(call, found, given['note_id'] as number) };
    },
  };
};

type Side = ReturnType<typeof side>;

const render = async (call: Call, award: AwardRow) => (await awardsJson(call, [award]))[0];

const list = ({ path, word, params, shared, find }: Side) =>
  endpoint({
    method: 'GET',
    path,
    summary: `Award emoji of a ${word}`,
    ...shared,
    list: true,
    params: object({ ...params, ...pageParams }),
    handle: async (call, given) => {
      const { awardable } = await find(call, given);
      const { items, total } = await listAwards(call.db, awardable, pageRequest(given));
      return { items: await awardsJson(call, items), total };
    },
  });

const get = ({ one, word, params, award_id, shared, find }: Side) =>
  endpoint({
    method: 'GET',
    path: one,
    summary: `One award emoji of a ${word}`,
    ...shared,
    params: object({ ...params, award_id }),
    handle: async (call, given) => {
      const { awardable } = await find(call, given);
      return await render(call, await findAward(call.db, awardable, given.award_id));
    },
  });

const create = ({ noun, path, word, params, shared, find }: Side) =>
  endpoint({
    method: 'POST',
    path,
    summary: `Award an emoji to a ${word}`,
    ...shared,
    params: object({ ...params, name: text({ description: 'such as thumbsup' }) }),
    handle: async (call, given) =>
      await render(call, await createAward(noun, call, await find(call, given), given.name)),
  });

const remove = ({ noun, one, word, params, award_id, shared, find }: Side) =>
  endpoint({
    method: 'DELETE',
    path: one,
    summary: `Take back an award emoji of a ${word}`,
    ...shared,
    reply: null,
    params: object({ ...params, award_id }),
    handle: async (call, given) => {
      const subject = await find(call, given);
      await deleteAward(noun, call, subject, await findAward(call.db, subject.awardable, given.award_id));
    },
  });

const routesOf = (of: Side) => [list(of), get(of), create(of), remove(of)];

export const awardRoutes = (noun: Noun) => [
  ...routesOf(side(noun, 'target')),
  ...routesOf(side(noun, 'note')),
];
