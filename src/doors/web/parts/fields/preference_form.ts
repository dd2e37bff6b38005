/** Buttons on pages that store the visitor's preferences. Following a URL changes no preference. */
import type { Visit } from '../../page.ts';
import { hidden } from '../form.ts';
import { type Html, html } from '../html.ts';

type PreferenceFormOptions = {
  /** Part of the page that is shown next: `#changes`. */
  anchor?: string;
  /** URL of the page, for a page that answers a form. */
  path: string;
};

/** Renders a form with buttons that choose. Afterwards the same page is shown, by what was stored. */
export const preferenceForm = (
  visit: Visit,
  { anchor = '', path }: PreferenceFormOptions,
  buttons: Html,
): Html =>
  html`<form method="post" action="/-/preferences" class="preference-form">${hidden(
    'authenticity_token',
    visit.csrfToken(),
  )}${hidden('return_to', `${visit.returnPath ?? path}${anchor}`)}${buttons}</form>`;

/** Renders a button of a group that chooses one value of several. */
export const choiceButton = (
  [name, value]: readonly [string, string],
  { label, isCurrent, isSmall = false }: { label: string; isCurrent: boolean; isSmall?: boolean },
): Html =>
  html`<button${isSmall && html` class="small"`} name="${name}" value="${value}" aria-pressed="${String(isCurrent)}">${label}</button>`;
