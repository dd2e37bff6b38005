/** Page preferences of visitors: stored in the account of signed-in users, and in a cookie for others. */
import { type ActivityFilter, activityFilters } from '../../../planning/notes/queries.ts';
import { readCookie } from '../../../platform/http/cookies.ts';

export const preferencesCookie = '_service_preferences';

export const schemes = ['system', 'light', 'dark'] as const;

export const schemeNames = { system: 'Match system', light: 'Light', dark: 'Dark' } as const;

/** Layout of diffs: unified or side by side. */
export const diffViews = ['unified', 'split'] as const;

export type DiffView = (typeof diffViews)[number];

/** The order of timelines: the oldest first, or the newest. */
export const timelineOrders = ['asc', 'desc'] as const;

export type TimelineOrder = (typeof timelineOrders)[number];

export type Preferences = {
  /** Entries that timelines of issues and merge requests show. */
  activity_filter: ActivityFilter;
  timelineOrder: TimelineOrder;
  scheme: (typeof schemes)[number];
  /** True if single keys are shortcuts. */
  hasShortcuts: boolean;
  /** True if logs of jobs show the time of each line; true if they wrap long lines. */
  showsLogTimes: boolean;
  wrapsLogs: boolean;
  diffView: DiffView;
  /** True if diffs hide changes of white space only. */
  hidesWhitespace: boolean;
  /** Ids of broadcast messages that were dismissed. */
  dismissed: readonly number[];
};

/** Returns the preferences of the browser, as its cookie has them. */
export const readPreferencesCookie = (header: string | undefined): string | null =>
  readCookie(header, preferencesCookie) ?? null;

/** Reads preferences: `dark`, `dark.nokeys.m12.m15`. Missing parts take their defaults. */
export const readPreferences = (text: string | null): Preferences => {
  const words = new Set(text?.split('.'));
  return {
    scheme: schemes.find((one) => words.has(one)) ?? 'system',
    activity_filter: activityFilters.find((one) => words.has(one)) ?? 'all_notes',
    timelineOrder: words.has('newest') ? 'desc' : 'asc',
    hasShortcuts: !words.has('nokeys'),
    showsLogTimes: words.has('logtimes'),
    wrapsLogs: !words.has('nowrap'),
    diffView: words.has('split') ? 'split' : 'unified',
    hidesWhitespace: words.has('nospace'),
    dismissed: [...words].flatMap((word) => (/^m\d{1,15}$/.test(word) ? [Number(word.slice(1))] : [])),
  };
};

export const writePreferences = (preferences: Preferences): string => {
  const { scheme, activity_filter, hasShortcuts, showsLogTimes, wrapsLogs, dismissed } = preferences;
  const { diffView, hidesWhitespace, timelineOrder } = preferences;
  return [
    scheme,
    ...(activity_filter === 'all_notes' ? [] : [activity_filter]),
    ...(timelineOrder === 'desc' ? ['newest'] : []),
    ...(hasShortcuts ? [] : ['nokeys']),
    ...(showsLogTimes ? ['logtimes'] : []),
    ...(wrapsLogs ? [] : ['nowrap']),
    ...(diffView === 'split' ? ['split'] : []),
    ...(hidesWhitespace ? ['nospace'] : []),
    ...dismissed.map((id) => `m${id}`),
  ].join('.');
};
