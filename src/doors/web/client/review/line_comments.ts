/** Opens the form for a comment at a line or file, without a separate page; with Shift for several lines. */
import { fetchPage } from '../fetch_page.ts';
import { showProblem } from '../show_problem.ts';
import { appendText } from '../writing/insert_text.ts';

const field = (form: HTMLElement, name: string): HTMLInputElement | null =>
  form.querySelector<HTMLInputElement>(`[name=${name}]`);

const setField = (form: HTMLElement, name: string, value: string): void => {
  const input = field(form, name);
  if (input !== null) input.value = value;
};

/** The open form, or a fresh one. */
const takeForm = (): HTMLElement | null => {
  const open = document.getElementById('new_comment');
  if (open !== null) return open;
  const template = document.querySelector<HTMLTemplateElement>('#comment_template');
  return (
    (template?.content.cloneNode(true) as DocumentFragment | undefined)?.querySelector('section') ?? null
  );
};

/** Removes a row or box that has nothing any more. */
export const removeEmpty = (holder: Element | null | undefined): void => {
  if (holder instanceof HTMLElement && holder.textContent.trim() === '') {
    (holder.closest('tr.thread') ?? holder).remove();
  }
};

const holderAt = (link: HTMLElement, card: HTMLElement): HTMLElement => {
  const row = link.closest('tr');
  if (row === null) {
    const box = document.createElement('div');
    box.className = 'file-threads';
    card.querySelector('.diff-body')?.prepend(box);
    return box;
  }
  const [thread, cell] = [document.createElement('tr'), document.createElement('td')];
  thread.className = 'thread';
  cell.colSpan = row.cells.length;
  thread.append(cell);
  row.after(thread);
  return cell;
};

/** `new_12` of an address that ends with `comment=diff-0123456789abcdef_new_12`. */
const lineOf = (link: HTMLAnchorElement): string =>
  /_((?:old|new)_\d+)$/.exec(new URL(link.href).searchParams.get('comment') ?? '')?.[1] ?? '';

const numberOf = (line: string): number => Number(line.split('_')[1]);

/** Returns the first and last line, if the form is open on the same side of the same file. */
const extend = (form: HTMLElement, path: string, line: string): [number, number] | null => {
  const open = field(form, 'line')?.value ?? '';
  if (field(form, 'path')?.value !== path || open.slice(0, 3) !== line.slice(0, 3)) return null;
  const [a, b] = [numberOf(open), numberOf(line)];
  return [Math.min(a, b), Math.max(a, b)];
};

/** Has the button for a suggestion mean another line. Removed lines, and files, take none. */
const moveSuggestion = (form: HTMLElement, link: HTMLAnchorElement, comment: string): void => {
  const button = form.querySelector<HTMLAnchorElement>('[data-suggestion]');
  if (!button?.parentElement) return;
  const address = new URL(link.href);
  address.searchParams.set('comment', comment);
  address.searchParams.set('suggest', '1');
  button.href = address.href;
  button.parentElement.hidden = !comment.includes('_new_');
};

/** Inserts the suggestion that the address of the button has in its form. */
const insertSuggestion = async (button: HTMLAnchorElement, form: HTMLElement): Promise<void> => {
  const address = new URL(button.href);
  const from = field(form, 'from')?.value ?? '';
  if (from !== '') address.searchParams.set('from', from);
  address.searchParams.set('file', field(form, 'path')?.value ?? '');
  const page = await fetchPage(address.href);
  const text = page?.querySelector<HTMLTextAreaElement>('#new_comment textarea')?.defaultValue ?? '';
  const area = form.querySelector('textarea');
  if (text === '' || area === null) {
    return showProblem(form, null, 'These lines cannot be read. Choose lines of the new file.');
  }
  appendText(area, text);
  area.focus();
};

let opener: HTMLElement | null = null;

const openAt = (link: HTMLAnchorElement, card: HTMLElement, isRange: boolean): void => {
  const form = takeForm();
  if (form === null) return location.assign(link.href);
  const path = card.dataset['path'] ?? '';
  const line = lineOf(link);
  const range = isRange && line !== '' ? extend(form, path, line) : null;
  const last = range !== null && numberOf(line) < range[1] ? (field(form, 'line')?.value ?? line) : line;
  setField(form, 'path', path);
  setField(form, 'old_path', card.dataset['oldPath'] ?? path);
  setField(form, 'line', last);
  setField(form, 'from', range === null ? '' : String(range[0]));
  const label = form.querySelector('label');
  const side = last.startsWith('old') ? ' before the change' : '';
  const text = last === '' ? 'Comment on the file' : `Comment on line ${numberOf(last)}${side}`;
  if (label !== null) label.textContent = text;
  const rangeField = form.querySelector<HTMLElement>('.range-field');
  if (rangeField !== null) rangeField.hidden = last === '';
  moveSuggestion(form, link, last === '' ? card.id : `${card.id}_${last}`);
  const before = form.parentElement;
  if (last === line) {
    holderAt(link, card).append(form);
    removeEmpty(before);
  }
  opener = link;
  form.querySelector('textarea')?.focus();
};

const cancel = (): void => {
  const form = document.getElementById('new_comment');
  const holder = form?.parentElement;
  form?.remove();
  removeEmpty(holder);
  opener?.focus();
};

/** Moves the focus from a line number to the next or previous line number. Returns whether it exists. */
const stepLine = (link: Element, step: 1 | -1): boolean => {
  const links = [...(link.closest('tbody')?.querySelectorAll<HTMLElement>('td.n a') ?? [])];
  const next = links[links.findIndex((one) => one === link) + step];
  next?.focus();
  return next !== undefined;
};

export const startComments = (): void => {
  document.addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : null;
    const link = (event.target as Element).closest('td.n a');
    if (step !== null && link !== null && stepLine(link, step)) event.preventDefault();
  });
  document.addEventListener('click', (event) => {
    const target = event.target as Element;
    const link = target.closest<HTMLAnchorElement>('a[href*="comment="]:not([data-suggestion])');
    const card = link?.closest<HTMLElement>('.diff-file');
    if (link && card && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      openAt(link, card, event.shiftKey);
    } else if (target.closest('#new_comment [data-cancel]') !== null) {
      event.preventDefault();
      cancel();
    }
  });
  document.addEventListener('click', (event) => {
    const button = (event.target as Element).closest<HTMLAnchorElement>('#new_comment [data-suggestion]');
    const form = button?.closest<HTMLElement>('#new_comment');
    if (!button || !form || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    void insertSuggestion(button, form).catch(() => location.assign(button.href));
  });
};
