/** Labels in the rows of narrow cards. */
import type { LinkedLabel } from '../../../../planning/issuables/lists/linked_labels.ts';
import { type Html, html } from '../../parts/html.ts';
import { label } from '../../parts/label.ts';
import { addressOf } from '../issuables/list/filter_chips.ts';

/** Renders labels as links to a list. @param path address of the list */
export const labelLinks = (path: string, labels: readonly LinkedLabel[]): Html =>
  html`${labels.map((one) => html`${label(one, addressOf(path, { labels: one.name }))} `)}`;
