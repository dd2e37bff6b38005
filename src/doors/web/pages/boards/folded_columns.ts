/** Columns of a board that are folded: the address names them. */
import type { ColumnKey } from '../../../../planning/boards/columns/columns.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { type AddressQuery, addressOf } from '../issuables/list/filter_chips.ts';

export const isFolded = (folded: readonly string[], key: ColumnKey): boolean => folded.includes(String(key));

/** Returns the parameter of an address that keeps the columns folded. */
export const foldedQuery = (folded: readonly string[]): AddressQuery =>
  folded.length === 0 ? {} : { folded: folded.join(',') };

type FoldLinkOptions = {
  path: string;
  folded: readonly string[];
  filters: AddressQuery;
  key: ColumnKey;
  name: string;
};

/** Renders the link that folds a column, or unfolds it. */
export const foldLink = ({ path, folded, filters, key, name }: FoldLinkOptions): Html => {
  const is = isFolded(folded, key);
  const others = folded.filter((one) => one !== String(key));
  const href = addressOf(path, { ...filters, ...foldedQuery(is ? others : [...others, String(key)]) });
  const said = `${is ? 'Unfold' : 'Fold'} the column ${name}`;
  return html`<a class="icon-link fold-column" href="${href}#list-${key}" title="${said}">${icon(is ? 'chevron-right' : 'chevron-down', said)}</a>`;
};
