/** Reactions to a text: each emoji with its number, and a menu of further emoji. */
import type { AwardCount } from '../../../../planning/awards/count_awards.ts';
import { replaceEmoji } from '../../../markdown/convert/emoji.ts';
import { escapeHtml } from '../../../../platform/escape_html.ts';
import type { Visit } from '../../page.ts';
import { hidden } from '../form.ts';
import { type Html, html, trusted } from '../html.ts';
import { icon } from '../icon.ts';
import { menu } from '../menu.ts';

/** Emoji of the menu. The page behind it has all others. */
const common = ['thumbsup', 'thumbsdown', 'smile', 'tada', 'thinking', 'heart', 'rocket', 'eyes'];

type ReactionOptions = {
  /** Address that toggles a reaction; null if the viewer may not react. */
  action: string | null;
  awards: readonly AwardCount[];
  /** Id of the comment; absent: the record itself. */
  noteId?: number;
  /** Path of the page, if it is not the record's page. */
  returnTo?: string;
};

const words = (name: string): string => name.replaceAll('_', ' ');

/** Names who reacted: `Ada, Grace and 3 more`; null: their names are not loaded. */
const peopleText = ({ count, people }: AwardCount): string | null => {
  if (people.length === 0) return null;
  const more = count - people.length;
  const names = people.join(', ');
  return more > 0 ? `${names} and ${more} more` : names;
};

const byPeople = (award: AwardCount): string => {
  const people = peopleText(award);
  return people === null ? '' : `, by ${people}`;
};

/** Names the emoji of a count, and who reacted, for screen readers: `tada, by Ada, Grace`. */
const nameText = (award: AwardCount): string => `${words(award.name)}${byPeople(award)}`;

/** Describes a button for screen readers: `tada: 2, including yours, by Ada, Grace`. */
const countText = (award: AwardCount): string =>
  `${words(award.name)}: ${award.count}${award.own_id === null ? '' : ', including yours'}${byPeople(award)}`;

const titleText = (award: AwardCount): string => `${words(award.name)}: ${peopleText(award) ?? award.count}`;

/** Renders an emoji as a reference: one character beyond Latin-1 doubles the time to encode a long page. */
const emojiOf = (name: string): Html =>
  trusted(
    escapeHtml(replaceEmoji(`:${name}:`)).replaceAll(
      /[\u{100}-\u{10ffff}]/gu,
      (char) => `&#${char.codePointAt(0)};`,
    ),
  );

/** Renders the button that adds or removes a reaction with an emoji. */
export const emojiButton = (name: string): Html =>
  html`<button class="icon-button" name="name" value="${name}" aria-label="React with ${words(name)}" title="${words(name)}">${emojiOf(name)}</button>`;

const gridOf = (names: readonly string[]): Html => html`<div class="emoji">${names.map(emojiButton)}</div>`;

/** Returns the address of the page with all emoji. */
const allEmojiPath = (action: string, { noteId, returnTo }: ReactionOptions): string => {
  if (returnTo === undefined) return noteId === undefined ? action : `${action}?note_id=${noteId}`;
  const query = new URLSearchParams();
  if (noteId !== undefined) query.set('note_id', String(noteId));
  query.set('return_to', returnTo);
  return `${action}?${query.toString()}`;
};

/** Renders the menu of these emoji. */
const pickerOf = (names: readonly string[], more: string): Html =>
  menu(
    { summary: icon('plus'), label: 'Add a reaction', isLeft: true, classes: 'reaction' },
    html`${gridOf(names)}<a href="${more}">More emoji&hellip;</a>`,
  );

/** Replaced by the address of all emoji, as the menu is rendered once. */
const addressMark = 'address-of-all-emoji';

let wholePicker: readonly [Html, Html] | null = null;

/** Renders the menu of a text without reactions, as most are. @returns what is before the address, and after it */
const renderWholePicker = (): readonly [Html, Html] => {
  const [before = '', after = ''] = pickerOf(common, addressMark).text.split(addressMark);
  return [trusted(before), trusted(after)];
};

/** Renders the menu of emoji that a text does not have yet. */
const pickerPart = (names: readonly string[], more: string): Html => {
  if (names.length < common.length) return pickerOf(names, more);
  wholePicker ??= renderWholePicker();
  return html`${wholePicker[0]}${more}${wholePicker[1]}`;
};

/** Renders the reactions; null if there are none and the viewer may not add any. */
export const reactions = (visit: Visit, options: ReactionOptions): Html | null => {
  const { action, awards, noteId, returnTo } = options;
  const shown = awards.map((award) => {
    const content = html`<span aria-hidden="true">${emojiOf(award.name)}</span> ${award.count}`;
    return action === null
      ? html`<span class="reaction" title="${titleText(award)}">${content}<span class="visually-hidden"> ${nameText(award)}</span></span>`
      : html`<button class="reaction" name="name" value="${award.name}" aria-pressed="${String(award.own_id !== null)}" aria-label="${countText(award)}" title="${titleText(award)}">${content}</button>`;
  });
  if (action === null) return shown.length === 0 ? null : html`<div class="reactions">${shown}</div>`;
  const others =
    awards.length === 0 ? common : common.filter((name) => !awards.some((award) => award.name === name));
  const fields = [
    hidden('authenticity_token', visit.csrfToken()),
    noteId !== undefined && hidden('note_id', noteId),
    returnTo !== undefined && hidden('return_to', returnTo),
  ];
  const picker = pickerPart(others, allEmojiPath(action, options));
  return html`<form method="post" action="${action}" class="reactions"${returnTo !== undefined && html` data-inline`}>${fields}${shown}${picker}</form>`;
};
