/** Chooses what a timeline shows, everything, only comments or only what was done, and in which order. */
import { optional, oneOf } from '../../../../platform/http/schema.ts';
import { type ActivityFilter, activityFilters } from '../../../../planning/notes/queries.ts';
import type { Visit } from '../../page.ts';
import { type TimelineOrder, timelineOrders } from '../../request/preferences.ts';
import { choiceButton, preferenceForm } from '../fields/preference_form.ts';
import { type Html, html } from '../html.ts';
import type { TimelineContext } from './timeline_context.ts';

/** Parameters of the pages that have a timeline. */
export const timelineParams = {
  activity_filter: optional(oneOf(activityFilters)),
  sort: optional(oneOf(timelineOrders)),
};

type TimelineChoice = { activity_filter?: ActivityFilter | undefined; sort?: TimelineOrder | undefined };

/** Applies what an address asks for to a visit. It overrides what is preferred, and is not stored. */
export const withTimelineChoice = (visit: Visit, { activity_filter, sort }: TimelineChoice): Visit => {
  const { preferences } = visit;
  return {
    ...visit,
    preferences: {
      ...preferences,
      activity_filter: activity_filter ?? preferences.activity_filter,
      timelineOrder: sort ?? preferences.timelineOrder,
    },
  };
};

/** Returns what the address of a page asks for, for links to its other pages. */
export const askedOfTimeline = ({ path }: Visit): string => {
  const query = new URL(path, 'http://page').searchParams;
  const asked = Object.keys(timelineParams).flatMap((name) =>
    query.getAll(name).map((value): [string, string] => [name, value]),
  );
  return asked.length === 0 ? '' : `&${new URLSearchParams(asked).toString()}`;
};

const filterNames: Record<ActivityFilter, string> = {
  all_notes: 'All',
  only_comments: 'Comments',
  only_activity: 'History',
};

const orderNames: Record<TimelineOrder, string> = { asc: 'Oldest first', desc: 'Newest first' };

/** Renders the heading of a timeline, with its filters and its order. */
export const activityNav = (visit: Visit, { path, filter, order, heading }: TimelineContext): Html => {
  if (heading !== undefined) return html`<h2>${heading}</h2>`;
  const filters = activityFilters.map((one) =>
    choiceButton(['activity_filter', one], {
      label: filterNames[one],
      isCurrent: one === filter,
      isSmall: true,
    }),
  );
  const orders = timelineOrders.map((one) =>
    choiceButton(['sort', one], { label: orderNames[one], isCurrent: one === order, isSmall: true }),
  );
  const buttons = html`<span class="segmented" role="group" aria-label="Activity">${filters}</span><span class="segmented" role="group" aria-label="Order">${orders}</span>`;
  return html`<div class="row between timeline-head"><h2>Activity</h2>${preferenceForm(visit, { path: path('') }, buttons)}</div>`;
};
