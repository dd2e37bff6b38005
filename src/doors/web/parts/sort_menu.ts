import { type Html, html } from './html.ts';
import { icon } from './icon.ts';
import { menu } from './menu.ts';

type SortMenuOptions = {
  path: string;
  /** Other query parameters to keep; undefined: absent. */
  query: Readonly<Record<string, string | undefined>>;
  /** Name of the query parameter of the order. */
  param: string;
  chosen: string;
  /** Labels by value of the parameter. */
  names: Readonly<Record<string, string>>;
};

/** Renders a menu of links to the orders of a list. */
export const sortMenu = ({ path, query, param, chosen, names }: SortMenuOptions): Html => {
  const kept = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const link = ([value, name]: [string, string]): Html => {
    const sent = new URLSearchParams([...kept, [param, value]]);
    return html`<a href="${path}?${sent.toString()}"${value === chosen && html` aria-current="true"`}>${name}</a>`;
  };
  const summary = html`<span class="muted">Sort:</span> ${names[chosen] ?? ''} ${icon('chevron-down')}`;
  return menu({ summary, classes: 'button' }, html`${Object.entries(names).map(link)}`);
};
