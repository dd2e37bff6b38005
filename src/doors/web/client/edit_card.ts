/**
 * Links `[data-edit-card]` open the properties of an issue in a dialog over its board: the part of the page, whose
 * forms are sent from there. Without scripts, they open that page.
 */
import { fetchPage, parsePage } from './fetch_page.ts';
import { partShown } from './page_parts.ts';
import { showProblem } from './show_problem.ts';

const propertiesIn = (page: Document): HTMLElement | null =>
  page.querySelector<HTMLElement>('#issue_properties');

/** Heading of the section that an element is in. */
const headingOf = (element: Element): string =>
  element.closest('section')?.querySelector('h2')?.textContent ?? '';

const makeDialog = (): HTMLDialogElement => {
  const dialog = document.createElement('dialog');
  dialog.className = 'panel';
  dialog.setAttribute('aria-labelledby', 'edited-card');
  dialog.innerHTML =
    '<header><h2 id="edited-card"></h2><form method="dialog"><button class="quiet">Close</button></form></header><div></div>';
  document.body.append(dialog);
  return dialog;
};

/** Shows the properties that a page has. Returns false if it has none. */
const show = (dialog: HTMLDialogElement, page: Document): boolean => {
  const properties = propertiesIn(page);
  if (properties === null) return false;
  const heading = dialog.querySelector('h2');
  if (heading !== null) heading.textContent = page.querySelector('h1')?.textContent ?? '';
  dialog.lastElementChild?.replaceChildren(document.importNode(properties, true));
  partShown();
  return true;
};

/** Focuses the button that opens the form of a section. */
const focusSection = (dialog: HTMLDialogElement, heading: string): void => {
  const buttons = [...dialog.querySelectorAll<HTMLElement>('section summary, section button')];
  (buttons.find((button) => headingOf(button) === heading) ?? dialog.querySelector('button'))?.focus();
};

/** Sends a form, and shows the properties as they then are. */
const save = async (
  dialog: HTMLDialogElement,
  form: HTMLFormElement,
  submitter: HTMLElement | null,
): Promise<void> => {
  const heading = headingOf(form);
  const fields = [...new FormData(form, submitter)].flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(fields) });
  const page = await parsePage(answer);
  if (!show(dialog, page)) {
    location.assign(answer.url);
    return;
  }
  focusSection(dialog, heading);
  if (!answer.ok) showProblem(dialog.lastElementChild ?? dialog, page);
};

/** @param onSaved refreshes the board */
export const startCardEditing = (board: HTMLElement, onSaved: () => void): void => {
  let dialog: HTMLDialogElement | undefined;
  let card = '';
  const build = (): HTMLDialogElement => {
    const made = makeDialog();
    made.addEventListener('submit', (event) => {
      const form = event.target as HTMLFormElement;
      if (form.method === 'dialog') return;
      event.preventDefault();
      void save(made, form, event.submitter)
        .then(onSaved)
        .catch(() => showProblem(made.lastElementChild ?? made, null));
    });
    made.addEventListener('click', ({ target }) => {
      if (target === made) made.close();
    });
    // The board may have new cards meanwhile.
    made.addEventListener('close', () => {
      (board.querySelector<HTMLElement>(`#${card} [data-row]`) ?? board).focus();
    });
    return made;
  };
  const open = async (link: HTMLAnchorElement): Promise<void> => {
    const page = await fetchPage(link.href);
    dialog ??= build();
    if (page === null || !show(dialog, page)) {
      location.assign(link.href);
      return;
    }
    card = link.closest('[data-card]')?.id ?? '';
    link.closest('details')?.removeAttribute('open');
    dialog.showModal();
  };
  board.addEventListener('click', (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>('a[data-edit-card]');
    if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void open(link).catch(() => location.assign(link.href));
  });
};
