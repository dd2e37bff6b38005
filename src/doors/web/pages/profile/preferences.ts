/** Preferences of the account: color scheme, diffs, timelines and shortcuts. */
import { boolean, object, oneOf, optional } from '../../../../platform/http/schema.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { checkbox, form, select } from '../../parts/form.ts';
import { html } from '../../parts/html.ts';
import { diffViews, schemeNames, schemes, timelineOrders } from '../../request/preferences.ts';
import { accountView } from '../../parts/frame/account_layout.ts';

const path = '/profile/preferences';

const viewNames = { unified: 'Unified: lines below each other', split: 'Split: side by side' } as const;

const orderNames = { asc: 'Oldest first', desc: 'Newest first' } as const;

const preferencesView = (visit: Visit): View => {
  const { scheme, hasShortcuts, diffView, hidesWhitespace, timelineOrder } = visit.preferences;
  return accountView(
    path,
    'Preferences',
    html`<p>These settings apply wherever you sign in.</p>
${form(
  visit,
  { action: path, submit: 'Save changes' },
  select({
    name: 'scheme',
    label: 'Color scheme',
    value: scheme,
    options: schemes.map((one) => [one, schemeNames[one]] as const),
  }),
  select({
    name: 'diff_view',
    label: 'View of changes',
    value: diffView,
    options: diffViews.map((one) => [one, viewNames[one]] as const),
  }),
  checkbox({
    name: 'hide_whitespace',
    label: 'Hide changes of white space only',
    checked: hidesWhitespace,
  }),
  select({
    name: 'timeline_order',
    label: 'Order of comments and events',
    value: timelineOrder,
    options: timelineOrders.map((one) => [one, orderNames[one]] as const),
  }),
  checkbox({
    name: 'shortcuts',
    label: 'Single-key shortcuts',
    hint: html`For example <kbd>/</kbd> for search. Turn them off if you use speech input or press keys by accident. Shortcuts with Ctrl always work.`,
    checked: hasShortcuts,
  }),
)}`,
  );
};

export const preferencePages = [
  page({
    method: 'GET',
    path,
    audience: 'user',
    params: object({}),
    handle: async (visit) => preferencesView(visit),
  }),
  page({
    method: 'POST',
    path,
    audience: 'user',
    params: object({
      scheme: oneOf(schemes),
      shortcuts: boolean(),
      diff_view: optional(oneOf(diffViews)),
      hide_whitespace: optional(boolean()),
      timeline_order: optional(oneOf(timelineOrders)),
    }),
    handle: async (visit, { scheme, shortcuts, diff_view, hide_whitespace, timeline_order }) => {
      const { preferences } = visit;
      await visit.changePreferences({
        ...preferences,
        scheme,
        hasShortcuts: shortcuts,
        diffView: diff_view ?? preferences.diffView,
        hidesWhitespace: hide_whitespace ?? preferences.hidesWhitespace,
        timelineOrder: timeline_order ?? preferences.timelineOrder,
      });
      return redirect(path, 'Your preferences were saved.');
    },
  }),
];
