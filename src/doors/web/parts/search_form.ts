import { hidden } from './form.ts';
import { type Html, html } from './html.ts';
import { icon } from './icon.ts';

type SearchFormOptions = {
  path: string;
  /** Name of the query parameter. */
  name: string;
  value: string;
  label: string;
  /** Other query parameters to keep; undefined: absent. */
  keep?: Readonly<Record<string, string | undefined>>;
};

/** Renders a form with one field that filters a list. */
export const searchForm = ({ path, name, value, label, keep = {} }: SearchFormOptions): Html =>
  html`<form method="get" action="${path}" class="filter-bar">${Object.entries(keep).map(
    ([key, kept]) => kept !== undefined && hidden(key, kept),
  )}<input type="search" name="${name}" value="${value}" placeholder="${label}" aria-label="${label}"><button>${icon('search')} Search</button></form>
`;
