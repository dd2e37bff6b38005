/** Requests for the rows about comments, threads and awards on snippets. */
import {
  type Maker,
  anothersAward,
  anothersNote,
  anothersNoteAward,
  notedSnippet,
  ownAward,
  ownNote,
  ownNoteAward,
} from '../makers/makers.ts';
import { snippet } from '../makers/key_makers.ts';
import { anothersThread, ownThread } from '../makers/thread_makers.ts';
import type { Recipe } from './recipes.ts';

const path = '/projects/:id/snippets/:snippet_id';
const note = `${path}/notes/:note_id`;
const talk = `${path}/discussions/:discussion_id`;
const talkNote = `${talk}/notes/:note_id`;

const text = () => ({ body: 'Other' });
const heart = () => ({ name: 'heart' });

const on = (...makes: Maker[]): Recipe => ({
  makes: [snippet({ by: 'writer', visibility: 'public' }), notedSnippet, ...makes],
});
const onPrivate = (...makes: Maker[]): Recipe => ({
  makes: [snippet({ by: 'writer', visibility: 'private' }), notedSnippet, ...makes],
});

type Thread = { notes: { id: number }[] };

export const snippetNoteRecipes: Record<string, Recipe> = {
  [`GET ${path}/notes {private}`]: {
    ...onPrivate(anothersNote),
    holds: ({ id }, names) => id === names['note_id'],
  },
  [`GET ${path}/notes {public}`]: {
    ...on(anothersNote),
    holds: ({ id }, names) => id === names['note_id'],
  },
  [`POST ${path}/notes {private}`]: { ...onPrivate(), body: text },
  [`POST ${path}/notes {public}`]: { ...on(), body: text },
  [`GET ${note}`]: on(anothersNote),
  [`PUT ${note} {own}`]: { ...on(ownNote), body: text },
  [`PUT ${note} {another's}`]: { ...on(anothersNote), body: text },
  [`DELETE ${note} {own}`]: on(ownNote),
  [`DELETE ${note} {another's}`]: on(anothersNote),
  [`GET ${path}/discussions`]: {
    ...on(anothersThread),
    holds: (item, names) => (item as unknown as Thread).notes.some(({ id }) => id === names['note_id']),
  },
  [`POST ${path}/discussions`]: { ...on(), body: text },
  [`GET ${talk}`]: on(anothersThread),
  [`POST ${talk}/notes`]: { ...on(anothersThread), body: text },
  [`GET ${talkNote}`]: on(anothersThread),
  [`PUT ${talkNote} {own}`]: { ...on(ownThread), body: text },
  [`PUT ${talkNote} {another's}`]: { ...on(anothersThread), body: text },
  [`DELETE ${talkNote} {own}`]: on(ownThread),
  [`DELETE ${talkNote} {another's}`]: on(anothersThread),
  [`GET ${path}/award_emoji`]: {
    ...on(anothersAward),
    holds: ({ id }, names) => id === names['issue_award'],
  },
  [`POST ${path}/award_emoji`]: { ...on(), body: heart },
  [`GET ${path}/award_emoji/:award_id`]: on(anothersAward),
  [`DELETE ${path}/award_emoji/:award_id {own}`]: on(ownAward),
  [`DELETE ${path}/award_emoji/:award_id {another's}`]: on(anothersAward),
  [`GET ${note}/award_emoji`]: {
    ...on(anothersNote, anothersNoteAward),
    holds: ({ id }, names) => id === names['note_award'],
  },
  [`POST ${note}/award_emoji`]: { ...on(anothersNote), body: heart },
  [`GET ${note}/award_emoji/:award_id`]: on(anothersNote, anothersNoteAward),
  [`DELETE ${note}/award_emoji/:award_id {own}`]: on(anothersNote, ownNoteAward),
  [`DELETE ${note}/award_emoji/:award_id {another's}`]: on(anothersNote, anothersNoteAward),
};
