import { type PageRequest, pageParams } from '../../../platform/http/page.ts';
import { type Html, html } from './html.ts';

type Paging = {
  path: string;
  /** Other query parameters; undefined: absent. */
  query: Record<string, string | undefined>;
  page: PageRequest;
  total: number;
  /** The page has a fixed size, which URLs do not contain. */
  isFixedSize?: boolean;
};

/** Renders links to the previous and next page; null for a single page. */
export const pagesNav = (paging: Paging): Html | null => {
  const { path, query, total, isFixedSize = false } = paging;
  const { page, per_page } = paging.page;
  const last = Math.max(Math.ceil(total / per_page), 1);
  if (page === 1 && last === 1) return null;
  const link = (number: number, text: string): Html => {
    const sentQuery = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const hasSize = isFixedSize || per_page === pageParams.per_page.default;
    const size = hasSize ? [] : [['per_page', String(per_page)]];
    const sent = new URLSearchParams([...sentQuery, ['page', String(number)], ...size]);
    return html`<a href="${path}?${sent.toString()}">${text}</a>`;
  };
  return html`<nav aria-label="Pages"><p class="buttons">${page > 1 && link(Math.min(page - 1, last), 'Previous')}
<span class="quiet">Page ${page} of ${last}</span>
${page < last && link(page + 1, 'Next')}</p></nav>`;
};
