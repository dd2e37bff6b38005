/** The content of a page of activity: its filter, its list, and a link to its feed. */
import type { RawBuilder } from 'kysely';
import { pageRequest } from '../../../../platform/http/page.ts';
import type { Visit } from '../../page.ts';
import { feedAddress } from '../../parts/feeds/feed_address.ts';
import { choiceTabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { pagesNav } from '../../parts/paging.ts';
import { activityList } from '../../parts/timeline/activity_list.ts';
import { type ActivityQuery, activityKinds, loadActivity } from './load_activity.ts';

type Shown = {
  scope: RawBuilder<boolean>;
  path: string;
  /** Path of the feed. */
  feed: string;
  /** Each event names its project. */
  hasProject: boolean;
  /** Further parameters of the address. */
  keep?: Readonly<Record<string, string | undefined>>;
  /** Tabs above the filter. */
  above?: Html;
};

/** Renders the link to a feed. @param query filters of the page */
export const feedLink = (
  { call }: Visit,
  feed: string,
  query: Readonly<Record<string, string | undefined>>,
): Html =>
  html`<a class="button small" href="${feedAddress(call, feed, query)}">${icon('feed')} Atom feed</a>`;

export const activityContent = async (visit: Visit, shown: Shown, query: ActivityQuery): Promise<Html> => {
  const { scope, path, feed, hasProject, keep = {}, above = null } = shown;
  const { items, total } = await loadActivity(visit.call, scope, query);
  const { action } = query;
  const kept = Object.fromEntries(
    Object.entries(keep).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  const kinds = {
    label: 'Kind of activity',
    path,
    param: 'action',
    chosen: action,
    names: activityKinds,
    keep: kept,
  };
  return html`<div class="row between"><h1>Activity</h1>${feedLink(visit, feed, { ...kept, action })}</div>
${above}${choiceTabs(kinds)}
<section class="card" aria-label="Activity">${activityList(items, { hasProject })}</section>
${pagesNav({ path, query: { ...kept, action }, page: pageRequest(query), total })}`;
};
