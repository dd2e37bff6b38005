/**
 * Opens the form of a text in the page: a link `[data-edit]` identifies the text and points to a page with its form,
 * `[data-edit-form]`. A refused text stays in the form, with the text that another user saved meanwhile.
 */
import { fetchPage, parsePage } from '../fetch_page.ts';
import { refreshEntry } from './refresh_entry.ts';
import { showProblem } from '../show_problem.ts';

const formOf = (page: Document): HTMLElement | null => page.querySelector<HTMLElement>('[data-edit-form]');

/** The page has other fields of the same names. */
const prefixIds = (part: HTMLElement, prefix: string): void => {
  for (const element of part.querySelectorAll('[id]')) element.id = `${prefix}_${element.id}`;
  for (const name of ['for', 'list', 'aria-describedby', 'aria-labelledby']) {
    for (const element of part.querySelectorAll(`[${name}]`)) {
      const ids = element.getAttribute(name)?.split(' ') ?? [];
      element.setAttribute(name, ids.map((id) => `${prefix}_${id}`).join(' '));
    }
  }
};

const focusLink = (id: string): void => document.querySelector<HTMLElement>(`[data-edit="${id}"]`)?.focus();

const close = (part: HTMLElement): void => {
  const entry = document.getElementById(part.dataset['of'] ?? '');
  part.remove();
  const text = entry?.querySelector<HTMLElement>('[data-text]');
  if (text) text.hidden = false;
  focusLink(part.dataset['of'] ?? '');
};

const addCancel = (part: HTMLElement): void => {
  const cancel = document.createElement('button');
  cancel.type = 'button';
  cancel.textContent = 'Cancel';
  cancel.addEventListener('click', () => close(part));
  part.querySelector('form > .buttons')?.append(cancel);
};

/** Shows a form in the place of the text, or of the form that is there. */
const show = (id: string, fresh: HTMLElement): boolean => {
  const text = document.getElementById(id)?.querySelector<HTMLElement>('[data-text]');
  if (!text) return false;
  const part = document.adoptNode(fresh);
  part.dataset['of'] = id;
  prefixIds(part, `edit_${id}`);
  addCancel(part);
  const before = document.querySelector(`[data-edit-form][data-of="${id}"]`);
  if (before === null) text.after(part);
  else before.replaceWith(part);
  text.hidden = true;
  part.querySelector<HTMLElement>('input:not([type=hidden]), textarea')?.focus();
  part.scrollIntoView({ block: 'nearest' });
  return true;
};

const open = async (id: string, address: string): Promise<void> => {
  const page = await fetchPage(address);
  const form = page === null ? null : formOf(page);
  if (form === null || !show(id, form)) location.assign(address);
};

const save = async (id: string, form: HTMLFormElement): Promise<void> => {
  const fields = [...new FormData(form)].flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  // A redirect says that it is saved.
  const answer = await fetch(form.action, {
    method: 'POST',
    body: new URLSearchParams(fields),
    redirect: 'manual',
  });
  if (answer.type === 'opaqueredirect') {
    const entry = await refreshEntry(id);
    return entry === null ? showProblem(form, null) : focusLink(id);
  }
  const page = await parsePage(answer);
  const fresh = formOf(page);
  if (fresh === null || !show(id, fresh)) showProblem(form, page);
};

const onClick = (event: MouseEvent): void => {
  const link = (event.target as Element).closest<HTMLAnchorElement>('a[data-edit]');
  // A link of a form begins it again.
  const id = link?.closest<HTMLElement>('[data-edit-form]')?.dataset['of'] ?? link?.dataset['edit'] ?? '';
  const text = document.getElementById(id)?.querySelector('[data-text]');
  if (link === null || !text) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  void open(id, link.href).catch(() => location.assign(link.href));
};

export const startEditing = (): void => {
  document.addEventListener('click', onClick);
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement;
    const id = form.closest<HTMLElement>('[data-edit-form][data-of]')?.dataset['of'];
    // Deletion leaves the text, so its page is loaded as without scripts.
    if (id === undefined || form.querySelector('[name=base]') === null) return;
    event.preventDefault();
    void save(id, form).catch(() => showProblem(form, null));
  });
};
