/** Links `[data-quote]` name a page with a reply that quotes a comment: its text goes into the form of the thread. */
import { fetchPage } from '../fetch_page.ts';
import { appendText } from './insert_text.ts';

const quoteIn = async (link: HTMLAnchorElement, reply: HTMLDetailsElement): Promise<void> => {
  const page = await fetchPage(link.href);
  const text = page?.querySelector<HTMLTextAreaElement>('textarea[name=body]')?.value;
  const area = reply.querySelector('textarea');
  if (text === undefined || area === null) return location.assign(link.href);
  reply.open = true;
  appendText(area, text);
  area.focus();
};

export const startQuotes = (): void => {
  document.addEventListener('click', (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>('a[data-quote]');
    const thread = link?.closest('article.note, .thread-card');
    const reply = thread?.querySelector<HTMLDetailsElement>('details.reply:has([name=discussion_id])');
    if (link === null || !reply || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void quoteIn(link, reply).catch(() => location.assign(link.href));
  });
};
