/** Links to a list in other formats: feed, calendar, CSV. */
import type { Visit } from '../../../page.ts';
import { feedAddress } from '../../../parts/feeds/feed_address.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { type AddressQuery, addressOf } from './filter_chips.ts';

/** Paths of a list in other formats; absent: there is none. */
export type ListFormats = {
  csv?: string;
  atom?: string;
  calendar?: string;
};

/** @param query filters of the list */
export const formatLinks = (
  { call }: Visit,
  { csv, atom, calendar }: ListFormats,
  query: AddressQuery,
): Html =>
  html`${
    atom !== undefined &&
    html`<a class="small" href="${feedAddress(call, atom, query)}">${icon('feed')} Feed</a>`
  }${
    calendar !== undefined &&
    html`<a class="small" href="${feedAddress(call, calendar, query)}">${icon('clock')} Due dates</a>`
  }${csv !== undefined && html`<a class="small" href="${addressOf(csv, query)}" download>${icon('download')} CSV</a>`}`;
