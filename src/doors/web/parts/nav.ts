/** Lists of links: beside a page, and tabs above its content. */
import { type Html, html } from './html.ts';
import type { View } from '../page.ts';

export type NavLink = {
  path: string;
  name: string;
  /** The link leads to the current page. */
  isHere: boolean;
  /** Below the link: the contents of the page. */
  contents?: Html | undefined;
};

const item = ({ path, name, isHere, contents }: NavLink): Html =>
  html`<li><a href="${path}"${isHere && html` aria-current="page"`}>${name}</a>${contents}</li>
`;

/** Renders tabs, one of which is current. */
export const tabs = (label: string, links: readonly NavLink[]): Html =>
  html`<nav aria-label="${label}"><ul class="tabs">${links.map(item)}</ul></nav>`;

type Choice = {
  label: string;
  /** Address of the unfiltered list. */
  path: string;
  /** The query parameter that filters. */
  param: string;
  chosen: string | undefined;
  /** Labels by value of the parameter. */
  names: Readonly<Record<string, string>>;
};

/** Renders tabs for all, and for each value of a filter. */
export const choiceTabs = ({ label, path, param, chosen, names }: Choice): Html =>
  tabs(label, [
    { path, name: 'All', isHere: chosen === undefined },
    ...Object.entries(names).map(([value, name]) => ({
      path: `${path}?${param}=${value}`,
      name,
      isHere: value === chosen,
    })),
  ]);

type Side = {
  /** Accessible name of the list of links. */
  label: string;
  /** Visible name, where the page does not show it. */
  of?: string;
  links: readonly NavLink[];
  title: string;
  live?: boolean;
};

/** Renders a page beside the links to its neighbours. */
export const sideView = ({ label, of, links, title, live = false }: Side, content: Html): View => ({
  title: of === undefined ? title : `${title} · ${of}`,
  live,
  body: html`<div class="sides">
<nav aria-label="${label}">${of !== undefined && html`<p class="quiet">${of}</p>`}<ul>${links.map(item)}</ul></nav>
<div>
<h1>${title}</h1>
${content}
</div>
</div>`,
});
