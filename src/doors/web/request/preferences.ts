/** Preferences of a browser, stored in a cookie: they apply to everybody who uses it, also before sign-in. */
import { type ActivityFilter, activityFilters } from '../../../planning/notes/queries.ts';
import { readCookie } from '../../../platform/http/cookies.ts';

export const preferencesCookie = '_service_preferences';

export const schemes = ['system', 'light', 'dark'] as const;

/** How lines of diffs are shown: below each other, or side by side. */
export const diffViews = ['unified', 'split'] as const;

export type DiffView = (typeof diffViews)[number];

export type Preferences = {
  /** What timelines of issues and merge requests show. */
  activity_filter: ActivityFilter;
  scheme: (typeof schemes)[number];
  /** Whether single keys are shortcuts. */
  hasShortcuts: boolean;
  /** Whether logs of jobs show the time of each line, and wrap long lines. */
  showsLogTimes: boolean;
  wrapsLogs: boolean;
  diffView: DiffView;
  /** Whether diffs leave out changes of white space only. */
  hidesWhitespace: boolean;
  /** Ids of broadcast messages that were dismissed. */
  dismissed: readonly number[];
};

/** Reads the cookie: `dark`, `dark.nokeys.m12.m15`. Missing parts take their defaults. */
export const readPreferences = (header: string | undefined): Preferences => {
  const words = new Set(readCookie(header, preferencesCookie)?.split('.'));
  return {
    scheme: schemes.find((one) => words.has(one)) ?? 'system',
    activity_filter: activityFilters.find((one) => words.has(one)) ?? 'all_notes',
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
  const { diffView, hidesWhitespace } = preferences;
  return [
    scheme,
    ...(activity_filter === 'all_notes' ? [] : [activity_filter]),
    ...(hasShortcuts ? [] : ['nokeys']),
    ...(showsLogTimes ? ['logtimes'] : []),
    ...(wrapsLogs ? [] : ['nowrap']),
    ...(diffView === 'split' ? ['split'] : []),
    ...(hidesWhitespace ? ['nospace'] : []),
    ...dismissed.map((id) => `m${id}`),
  ].join('.');
};
