import { type Html, html } from '../html.ts';

/** Renders names of files as a list. @param total number of all files; `names` has the first */
export const fileNameList = ({ names, total }: { names: readonly string[]; total: number }): Html => {
  const more = total - names.length;
  return html`<ul class="file-names">${names.map((name) => html`<li><code>${name}</code></li>`)}${more > 0 && html`<li>and ${more} more</li>`}</ul>`;
};
