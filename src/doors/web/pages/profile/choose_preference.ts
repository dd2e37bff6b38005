/** Stores a preference that a page offers next to what it changes, such as the view of a diff. */
import { activityFilters } from '../../../../planning/notes/queries.ts';
import { boolean, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { page, redirect } from '../../page.ts';
import { type Preferences, diffViews, schemes, timelineOrders } from '../../request/preferences.ts';
import { safeRedirectPath } from '../../request/safe_redirect_path.ts';

/** Parameters of pages, each with the preference that it overrides on one page. */
const names = {
  view: 'diffView',
  w: 'hidesWhitespace',
  activity_filter: 'activity_filter',
  sort: 'timelineOrder',
  timestamps: 'showsLogTimes',
  wrap: 'wrapsLogs',
  scheme: 'scheme',
} as const satisfies Record<string, keyof Preferences>;

type Chosen = { [N in keyof typeof names]?: unknown };

const isChosen = (chosen: Chosen, name: string): boolean => chosen[name as keyof Chosen] !== undefined;

/** Returns an address without the parameters that would override what was chosen. */
const withoutChosen = (path: string, chosen: Chosen): string => {
  const url = new URL(path, 'http://page');
  for (const name of Object.keys(names)) if (isChosen(chosen, name)) url.searchParams.delete(name);
  // Another filter has other pages.
  if (isChosen(chosen, 'activity_filter')) url.searchParams.delete('page');
  return url.pathname + url.search + url.hash;
};

export const pages = [
  page({
    method: 'POST',
    path: '/-/preferences',
    audience: 'anyone',
    params: object({
      view: optional(oneOf(diffViews)),
      w: optional(boolean()),
      activity_filter: optional(oneOf(activityFilters)),
      sort: optional(oneOf(timelineOrders)),
      timestamps: optional(boolean()),
      wrap: optional(boolean()),
      scheme: optional(oneOf(schemes)),
      return_to: optional(text({ maxLength: 8_192 })),
    }),
    handle: async ({ call, preferences, changePreferences }, { return_to, ...chosen }) => {
      const changes = Object.entries(names).filter(([name]) => isChosen(chosen, name));
      const values = changes.map(([name, key]) => [key, chosen[name as keyof Chosen]]);
      await changePreferences({ ...preferences, ...(Object.fromEntries(values) as Partial<Preferences>) });
      return redirect(withoutChosen(safeRedirectPath(return_to, call.baseUrl), chosen));
    },
  }),
];
