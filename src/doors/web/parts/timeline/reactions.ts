/** Reactions to a text: each emoji with its number, and a menu of further ones. */
import type { AwardCount } from '../../../../planning/awards/count_awards.ts';
import { replaceEmoji } from '../../../markdown/convert/emoji.ts';
import type { Visit } from '../../page.ts';
import { hidden } from '../form.ts';
import { type Html, encode, html } from '../html.ts';
import { icon } from '../icon.ts';
import { menu } from '../menu.ts';

/** Emoji of the menu. Others are added over the API. */
const common = ['thumbsup', 'thumbsdown', 'smile', 'tada', 'thinking', 'heart', 'rocket', 'eyes'];

type ReactionOptions = {
  /** Address that toggles a reaction; null: the viewer may not react. */
  action: string | null;
  awards: readonly AwardCount[];
  /** Id of the comment; absent: the record itself. */
  noteId?: number;
};

const words = (name: string): string => name.replaceAll('_', ' ');

const countText = ({ name, count, own_id }: AwardCount): string =>
  `${words(name)}: ${count}${own_id === null ? '' : ', including yours'}`;

/** Renders the menu of emoji that a text does not have yet. */
const pickerPart = (names: readonly string[]): Html => {
  const items = names.map(
    (name) =>
      html`<button class="icon-button" name="name" value="${name}" aria-label="React with ${words(name)}" title="${words(name)}">${replaceEmoji(`:${name}:`)}</button>`,
  );
  return menu(
    { summary: icon('plus'), label: 'Add a reaction', isLeft: true, classes: 'reaction' },
    html`<div class="emoji">${items}</div>`,
  );
};

let wholePicker: Html | null = null;

/** Returns the menu of a text without reactions, as most have it. */
const getWholePicker = (): Html => (wholePicker ??= encode(pickerPart(common)));

/** Renders the reactions; null where there are none and the viewer may add none. */
export const reactions = (visit: Visit, { action, awards, noteId }: ReactionOptions): Html | null => {
  const shown = awards.map((award) => {
    const content = html`<span aria-hidden="true">${replaceEmoji(`:${award.name}:`)}</span> ${award.count}`;
    return action === null
      ? html`<span class="reaction" title="${countText(award)}">${content}<span class="visually-hidden"> ${words(award.name)}</span></span>`
      : html`<button class="reaction" name="name" value="${award.name}" aria-pressed="${String(award.own_id !== null)}" aria-label="${countText(award)}" title="${words(award.name)}">${content}</button>`;
  });
  if (action === null) return shown.length === 0 ? null : html`<div class="reactions">${shown}</div>`;
  const others = common.filter((name) => !awards.some((award) => award.name === name));
  const picker = others.length === common.length ? getWholePicker() : pickerPart(others);
  return html`<form method="post" action="${action}" class="reactions">${hidden(
    'authenticity_token',
    visit.csrfToken(),
  )}${noteId !== undefined && hidden('note_id', noteId)}${shown}${picker}</form>`;
};
