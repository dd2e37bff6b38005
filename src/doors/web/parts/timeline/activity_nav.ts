/** Chooses what a timeline shows: everything, only comments, or only what was done. */
import { optional, oneOf } from '../../../../platform/http/schema.ts';
import { type ActivityFilter, activityFilters } from '../../../../planning/notes/queries.ts';
import type { Visit } from '../../page.ts';
import { type Html, html } from '../html.ts';
import type { TimelineContext } from './timeline_context.ts';

/** Parameter of the pages that have a timeline. */
export const activityParam = { activity_filter: optional(oneOf(activityFilters)) };

/** Applies the choice of the address to a visit, and keeps it in this browser. */
export const withActivityFilter = (visit: Visit, requested: ActivityFilter | undefined): Visit => {
  if (requested === undefined || requested === visit.preferences.activity_filter) return visit;
  const preferences = { ...visit.preferences, activity_filter: requested };
  visit.changePreferences(preferences);
  return { ...visit, preferences };
};

const words: Record<ActivityFilter, string> = {
  all_notes: 'All',
  only_comments: 'Comments',
  only_activity: 'History',
};

/** Renders the heading of a timeline, with links to its filters. */
export const activityNav = ({ path, filter, heading }: TimelineContext): Html =>
  heading !== undefined
    ? html`<h2>${heading}</h2>`
    : html`<div class="row between timeline-head"><h2>Activity</h2><nav class="segmented" aria-label="Activity">${activityFilters.map(
        (one) =>
          html`<a class="button small" href="${path('')}?activity_filter=${one}"${one === filter && html` aria-current="true"`}>${words[one]}</a>`,
      )}</nav></div>`;
