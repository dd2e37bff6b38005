/** How pages look and act in this browser. */
import { boolean, object, oneOf } from '../../../../platform/http/schema.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { checkbox, form, select } from '../../parts/form.ts';
import { html } from '../../parts/html.ts';
import { schemes } from '../../request/preferences.ts';
import { ownView } from './own_nav.ts';

const path = '/profile/preferences';

const schemeNames = { system: 'As the system', light: 'Light', dark: 'Dark' } as const;

const preferencesView = (visit: Visit): View => {
  const { scheme, hasShortcuts } = visit.preferences;
  return ownView(
    path,
    'Preferences',
    html`<p>These apply to this browser, for everybody who uses it.</p>
${form(
  visit,
  { action: path, submit: 'Save changes' },
  select({
    name: 'scheme',
    label: 'Colour scheme',
    value: scheme,
    options: schemes.map((one) => [one, schemeNames[one]] as const),
  }),
  checkbox({
    name: 'shortcuts',
    label: 'Single-key shortcuts',
    hint: html`Such as <kbd>/</kbd> for the search. Turn them off if you use speech input, or press keys by accident. Shortcuts with Ctrl stay.`,
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
    params: object({ scheme: oneOf(schemes), shortcuts: boolean() }),
    handle: async (visit, { scheme, shortcuts }) => {
      visit.changePreferences({ ...visit.preferences, scheme, hasShortcuts: shortcuts });
      return redirect(path, 'Your preferences are saved in this browser.');
    },
  }),
];
