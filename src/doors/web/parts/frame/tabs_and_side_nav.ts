/** Lists of links: a column next to a page, and tabs above its content. */
import type { View } from '../../page.ts';
import { type Html, html } from '../html.ts';
import { type IconName, icon } from '../icon.ts';

export type NavLink = {
  path: string;
  name: string;
  /** The link points to the current page. */
  isHere: boolean;
  icon?: IconName | undefined;
  /** A text such as `100+` where more are not counted. */
  count?: number | string | undefined;
  /** Below the link: the contents of the page. */
  contents?: Html | undefined;
};

const item = ({ path, name, isHere, icon: image, count, contents }: NavLink): Html =>
  html`<li><a href="${path}"${isHere && html` aria-current="page"`}>${image !== undefined && icon(image)}${
    image !== undefined && ' '
  }${name}${count !== undefined && html` <span class="count">${count}</span>`}</a>${contents}</li>
`;

/** Renders tabs with a current tab. */
export const tabs = (label: string, links: readonly NavLink[]): Html =>
  html`<nav class="tabs-nav" aria-label="${label}"><ul class="tabs">${links.map(item)}</ul></nav>`;

type Choice = {
  label: string;
  /** Address of the unfiltered list. */
  path: string;
  /** The query parameter that filters. */
  param: string;
  chosen: string | undefined;
  /** Labels by value of the parameter. */
  names: Readonly<Record<string, string>>;
  /** Text of the tab without the parameter. */
  allName?: string;
  /** Counts by value of the parameter, and of `all`. */
  counts?: Readonly<Record<string, number>>;
  /** Other query parameters to keep. */
  keep?: Readonly<Record<string, string>>;
};

/** Renders tabs for all, and for each value of a filter. */
export const choiceTabs = (choice: Choice): Html => {
  const { label, path, param, chosen, names, allName = 'All', counts = {}, keep = {} } = choice;
  const pathWith = (query: Record<string, string>): string => {
    const text = new URLSearchParams({ ...query, ...keep }).toString();
    return text === '' ? path : `${path}?${text}`;
  };
  return tabs(label, [
    { path: pathWith({}), name: allName, count: counts['all'], isHere: chosen === undefined },
    ...Object.entries(names).map(([value, name]) => ({
      path: pathWith({ [param]: value }),
      name,
      count: counts[value],
      isHere: value === chosen,
    })),
  ]);
};

/** Renders links next to content that starts with a heading. */
export const withSideNav = (label: string, links: readonly NavLink[], content: Html): Html =>
  html`<div class="sides">
<nav aria-label="${label}"><ul>${links.map(item)}</ul></nav>
<div>
${content}
</div>
</div>`;

type Side = {
  /** Accessible name of the list of links. */
  label: string;
  links: readonly NavLink[];
  title: string;
  live?: boolean;
};

/** Renders a page next to the links to its neighbours. */
export const sideView = ({ label, links, title, live = false }: Side, content: Html): View => ({
  title,
  live,
  body: withSideNav(
    label,
    links,
    html`<h1>${title}</h1>
${content}`,
  ),
});
