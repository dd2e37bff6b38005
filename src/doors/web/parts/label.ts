/** Pills of labels. */
import { type Html, html } from './html.ts';

type Label = { name: string; color: string; description?: string | null };

/**
 * Fills the box of its parent. An SVG, because the content security policy allows no style attributes and a color can
 * be any of 16 million. The style sheet makes it a wash, on which the text of the page stays legible in both schemes.
 */
const wash = (color: string): Html =>
  html`<svg aria-hidden="true"><rect width="100%" height="100%" fill="${color}" stroke="${color}"/></svg>`;

/** Renders the title of a scoped label, `key::value`, with its key set off; of `a::b::c`, the key is `a::b`. */
const titlePart = ({ name, color }: Label): Html => {
  const at = name.lastIndexOf('::');
  if (at < 1 || at + 2 === name.length) return html`${name}`;
  return html`<span class="scope">${wash(color)}${name.slice(0, at)}</span><span class="visually-hidden">::</span>${name.slice(at + 2)}`;
};

/** Renders a label. @param href where it leads, such as the list of issues with the label; without it, no link */
export const label = (shown: Label, href?: string): Html => {
  const content = html`${wash(shown.color)}${titlePart(shown)}`;
  const title = (shown.description ?? '') !== '' && html` title="${shown.description}"`;
  return href === undefined
    ? html`<span class="label"${title}>${content}</span>`
    : html`<a class="label" href="${href}"${title}>${content}</a>`;
};
