/** The menu of a list in other formats: feed, calendar, CSV. */
import type { Visit } from '../../../page.ts';
import { feedAddress } from '../../../parts/feeds/feed_address.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { menu } from '../../../parts/menu.ts';
import { type AddressQuery, addressOf } from './filter_chips.ts';

/** Paths of a list in other formats, if they exist. */
export type ListFormats = {
  csv?: string;
  atom?: string;
  calendar?: string;
};

/** Renders the menu of a list's other formats. @param query filters of the list */
export const formatsMenu = (
  { call }: Visit,
  { csv, atom, calendar }: ListFormats,
  query: AddressQuery,
): Html =>
  menu(
    { summary: icon('dots'), label: 'Feeds and exports', classes: 'button small icon-button' },
    html`${
      atom !== undefined && html`<a href="${feedAddress(call, atom, query)}">${icon('feed')} Atom feed</a>`
    }${
      calendar !== undefined &&
      html`<a href="${feedAddress(call, calendar, query)}">${icon('clock')} Calendar of due dates</a>`
    }${csv !== undefined && html`<a href="${addressOf(csv, query)}" download>${icon('download')} CSV file</a>`}`,
  );
