import type { Visit } from '../../page.ts';
import { type Html, html } from '../html.ts';
import { icon } from '../icon.ts';
import { feedAddress } from './feed_address.ts';

/**
 * Renders the link to the feed of a page, with the token of the user, so that a feed reader can open it.
 * @param path of the feed: with the query `format=atom`, or without a query
 */
export const feedLink = ({ call }: Visit, path: string): Html => {
  const [bare = '', query = ''] = path.split('?', 2);
  const address = feedAddress(call, bare, Object.fromEntries(new URLSearchParams(query)));
  return html`<a class="button icon-button" href="${address}" title="Atom feed" aria-label="Atom feed">${icon('feed')}</a>`;
};
