import { emptyState } from '../../parts/empty_state.ts';
import { type Html, html } from '../../parts/html.ts';
import { pagesNav } from '../../parts/paging.ts';
import { spellCount } from '../../../../platform/spell_count.ts';
import type { View } from '../../page.ts';
import { type AdminPath, adminView } from '../../parts/frame/admin_layout.ts';

type AdminList = {
  path: AdminPath;
  title: string;
  /** Text or forms above the list: what the records are, a search, a button for a new one. */
  head: Html;
  /** Tabs between the head and the list. */
  tabs?: Html;
  /** One of the listed records: `topic`. */
  noun: string;
  rows: readonly Html[];
  empty: Parameters<typeof emptyState>[0];
  paging: Omit<Parameters<typeof pagesNav>[0], 'path'>;
};

/** Renders a page of the administration that lists records, with their total. */
export const adminListView = ({ path, title, head, tabs, noun, rows, empty, paging }: AdminList): View => {
  const list = rows.length === 0 ? emptyState(empty) : html`<ul class="list">${rows}</ul>`;
  const content = html`<div class="row between">${head}</div>
${tabs}<div class="card"><header><span class="muted">${spellCount(paging.total, noun)}</span></header>${list}</div>
${pagesNav({ ...paging, path })}`;
  return adminView({ path, title }, content);
};
