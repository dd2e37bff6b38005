/** The form that toggles a reaction, and the page with all emoji. */
import { type Call, requireUser } from '../../../../core/access/call.ts';
import { createAward } from '../../../../planning/awards/create.ts';
import { deleteAward } from '../../../../planning/awards/delete.ts';
import type { AwardRow } from '../../../../planning/awards/json.ts';
import { type Awardable, listNamedAwards } from '../../../../planning/awards/queries.ts';
import { normalizeAwardName, mayAward } from '../../../../planning/awards/rules.ts';
import type { LoadedNoteable, NounActions } from '../../../../planning/issuables/target.ts';
import { findNote } from '../../../../planning/notes/queries.ts';
import { notFound } from '../../../../platform/errors.ts';
import { id, object, optional, text } from '../../../../platform/http/schema.ts';
import { findEmoji, listEmojiNames } from '../../../markdown/convert/emoji.ts';
import { type Visit, page, redirect } from '../../page.ts';
import { hidden, input } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { emojiButton } from '../../parts/timeline/reactions.ts';
import { type CommentedKind, recordParams } from './issuable_kind.ts';
import { returnParam, returnPath } from './return_path.ts';

/** Emoji that the page shows; a search finds the others. */
const maxShown = 300;

const subjectParams = { ...recordParams, note_id: optional(id()), ...returnParam };

/** Adds or removes the caller's reaction. For an emoji with several names, uses a name that was already used. */
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
  const awards = await listNamedAwards(call, awardable, [normalizeAwardName(name), ...listEmojiNames(name)]);
  const preferName = (some: AwardRow[]): AwardRow | undefined =>
    some.find((award) => award.name === name) ?? some[0];
  const own = preferName(awards.filter(({ user_id }) => user_id === requireUser(call).id));
  if (own === undefined) await createAward(noun, call, subject, preferName(awards)?.name ?? name);
  else await deleteAward(noun, call, subject, own);
};

const awardPage = <L extends LoadedNoteable>(kind: CommentedKind<L>) =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:iid/award_emoji`,
    audience: 'user',
    params: object({ ...subjectParams, name: optional(text()) }),
    handle: async (visit, { project, iid, name = '', note_id, return_to }) => {
      const loaded = await kind.find(visit.call, project, iid);
      await toggleAward(kind.noun, visit.call, loaded, { name, note_id });
      const usual = kind.path(loaded) + (note_id === undefined ? '' : `#note_${note_id}`);
      return redirect(returnPath(visit, return_to, usual));
    },
  });

type Chosen = { search: string; note_id?: number | undefined; return_to?: string | undefined };

/** Renders the search and the emoji it finds. @param action the address of both forms */
const emojiPart = (visit: Visit, action: string, { search, note_id, return_to }: Chosen): Html => {
  const emoji = findEmoji(search);
  const subject = [
    note_id !== undefined && hidden('note_id', note_id),
    return_to !== undefined && hidden('return_to', return_to),
  ];
  const count =
    emoji.length > maxShown
      ? `The first ${maxShown} of ${emoji.length} emoji. Search to find others.`
      : `${emoji.length} emoji`;
  return html`<form method="get" action="${action}" class="filter">${subject}${input({ name: 'search', label: 'Search by name', value: search })}<div class="buttons"><button>Search</button></div></form>
<section class="card" aria-label="Emoji"><header><span class="muted">${emoji.length === 0 ? 'No emoji has this name.' : count}</span></header>${emoji.length > 0 && html`<form method="post" action="${action}" class="body emoji all">${hidden('authenticity_token', visit.csrfToken())}${subject}${emoji.slice(0, maxShown).map(({ first }) => emojiButton(first))}</form>`}</section>`;
};

const allEmojiPage = <L extends LoadedNoteable>(kind: CommentedKind<L>) =>
  page({
    method: 'GET',
    path: `${kind.routePath}/:iid/award_emoji`,
    audience: 'user',
    params: object({ ...subjectParams, search: optional(text({ maxLength: 100 })) }),
    handle: async (visit, { project, iid, search = '', note_id, return_to }) => {
      const { call } = visit;
      const loaded = await kind.find(call, project, iid);
      if (!mayAward(call, loaded)) throw notFound('Award Emoji');
      if (note_id !== undefined) await findNote(call, loaded.target, note_id);
      const usual = kind.path(loaded) + (note_id === undefined ? '' : `#note_${note_id}`);
      const back = returnPath(visit, return_to, usual);
      const subject = note_id === undefined ? `the ${kind.noun.word}` : 'a comment';
      const content = html`<p>Choose an emoji to react to ${subject}. Choose it again to take it back.</p>
${emojiPart(visit, kind.path(loaded, '/award_emoji'), { search, note_id, return_to })}
<p><a href="${back}">Back to the ${kind.noun.word}</a></p>`;
      return kind.partView(visit, loaded, `React to ${kind.sign}${loaded.target.iid}`, content);
    },
  });

export const emojiPages = <L extends LoadedNoteable>(kind: CommentedKind<L>) => [
  allEmojiPage(kind),
  awardPage(kind),
];
