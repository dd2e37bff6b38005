/** Lists of links: beside a page, and above what it shows. */
import { type Html, html } from './html.ts';
import type { View } from './page.ts';

export type NavLink = {
  path: string;
  name: string;
  /** It is of the page that is shown. */
  isHere: boolean;
  /** Below the link: what the page has. */
  contents?: Html | undefined;
};

const item = ({ path, name, isHere, contents }: NavLink): Html =>
  html`<li><a href="${path}"${isHere && html` aria-current="page"`}>${name}</a>${contents}</li>
`;

/** A list by its parts, one of which is shown. */
export const tabs = (label: string, links: readonly NavLink[]): Html =>
  html`<nav aria-label="${label}"><ul class="tabs">${links.map(item)}</ul></nav>`;

type Choice = {
  label: string;
  /** Of the whole list. */
  path: string;
  /** The parameter that chooses a part. */
  param: string;
  chosen: string | undefined;
  /** Values of the parameter, and what each is called. */
  names: Readonly<Record<string, string>>;
};

/** As `tabs`: all, or those of one kind. */
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
  /** What the links are of, for those who hear it. */
  label: string;
  /** The same for those who see it, where the page does not say it. */
  of?: string;
  links: readonly NavLink[];
  title: string;
  live?: boolean;
};

/** A page beside the list of its neighbours. */
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
