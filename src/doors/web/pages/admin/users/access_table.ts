import { type Html, html } from '../../../parts/html.ts';

/** Renders a table of sessions, keys, addresses or tokens of a user. */
export const accessTable = (label: string, heads: readonly string[], rows: readonly Html[]): Html =>
  html`<div class="wide" tabindex="0" role="region" aria-label="${label}"><table>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows}</tbody>
</table></div>`;
