/**
 * Forms and links `[data-inline]` of a changed file: only the card of that file, the bar and the tree are replaced from
 * the response, so the scroll position is kept. If the response has no such card, the browser navigates to it.
 */
import { parsePage } from '../fetch_page.ts';
import { partShown } from '../page_parts.ts';
import { showProblem } from '../show_problem.ts';

const replaced = '.file-tree, #changes_bar';

const cardOf = (element: Element): HTMLElement | null => element.closest<HTMLElement>('.diff-file');

/** Keeps folders of the tree closed. */
const copyClosedFolders = (from: Element, to: Element): void => {
  for (const { dataset } of from.querySelectorAll<HTMLElement>('details[data-folder]:not([open])')) {
    to.querySelector(`[data-folder="${CSS.escape(dataset['folder'] ?? '')}"]`)?.removeAttribute('open');
  }
};

const replaceAround = (page: Document): void => {
  for (const old of document.querySelectorAll(replaced)) {
    const fresh = page.querySelector(old.id === '' ? '.file-tree' : `#${old.id}`);
    if (fresh === null) continue;
    copyClosedFolders(old, fresh);
    old.replaceWith(document.adoptNode(fresh));
  }
};

const ids = (card: Element): string[] =>
  [...card.querySelectorAll('[id^=note_], [id^=draft_]')].map(({ id }) => id);

/** Replaces a card; focuses the comment that is new in it. Returns the fresh card. */
const replaceCard = (card: HTMLElement, page: Document): HTMLElement | null => {
  const fresh = page.getElementById(card.id);
  if (fresh === null) return null;
  const shownIds = new Set(ids(card));
  const adopted = document.adoptNode(fresh);
  card.replaceWith(adopted);
  replaceAround(page);
  partShown();
  const added = ids(adopted).find((id) => !shownIds.has(id));
  const thread =
    added === undefined ? null : document.getElementById(added)?.closest<HTMLElement>('.thread-card');
  thread?.focus({ preventScroll: true });
  thread?.scrollIntoView({ block: 'nearest' });
  return adopted;
};

/** Submits a form and replaces its card. Returns the fresh card; null: the form shows a problem, or the page is left. */
export const submitInline = async (
  form: HTMLFormElement,
  submitter: HTMLElement | null,
): Promise<HTMLElement | null> => {
  const card = cardOf(form);
  if (card === null) return null;
  const fields = [...new FormData(form, submitter)].flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(fields) });
  const page = await parsePage(answer);
  if (!answer.ok) {
    showProblem(form, page);
    return null;
  }
  const fresh = replaceCard(card, page);
  if (fresh === null) location.assign(answer.url);
  return fresh;
};

/** Follows a link within a card; the focus goes to the link at the same place of the fresh card. */
const openLink = async (link: HTMLAnchorElement, card: HTMLElement): Promise<void> => {
  const at = [...card.querySelectorAll('a.expand')].indexOf(link);
  const answer = await fetch(link.href, { headers: { accept: 'text/html' } });
  const fresh = answer.ok ? replaceCard(card, await parsePage(answer)) : null;
  if (fresh === null) return location.assign(link.href);
  const links = [...fresh.querySelectorAll<HTMLElement>('a.expand')];
  const next = links[at] ?? links.at(-1) ?? fresh.querySelector<HTMLElement>('h2 a');
  next?.focus({ preventScroll: true });
};

export const startInline = (): void => {
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement;
    if (!form.matches('[data-inline]') || cardOf(form) === null) return;
    event.preventDefault();
    void submitInline(form, event.submitter).catch(() => form.submit());
  });
  document.addEventListener('click', (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>('a[data-inline], a.expand');
    const card = link === null ? null : cardOf(link);
    if (link === null || card === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void openLink(link, card).catch(() => location.assign(link.href));
  });
};
