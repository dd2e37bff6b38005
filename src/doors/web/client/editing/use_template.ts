/** Inserts a template into the description of a new record, and offers to take it back. */
import { parsePage } from '../fetch_page.ts';
import { replaceText } from './replace_text.ts';

const inField = (form: ParentNode): HTMLTextAreaElement | null =>
  form.querySelector('textarea[name="description"]');

const appliedIn = (form: ParentNode): HTMLInputElement | null =>
  form.querySelector('input[name="applied_template"]');

/** Tells that the text was replaced, with a button that takes it back until somebody types. */
const offerUndo = (button: HTMLElement, area: HTMLTextAreaElement, undo: () => void): void => {
  const said = document.createElement('span');
  said.setAttribute('role', 'status');
  said.className = 'muted';
  button.parentElement?.querySelector('[role=status]')?.remove();
  button.after(said);
  const back = document.createElement('button');
  back.type = 'button';
  back.className = 'small';
  back.textContent = 'Undo';
  said.append('Template inserted. ', back);
  const remove = (): void => {
    said.remove();
    area.removeEventListener('input', remove);
  };
  area.addEventListener('input', remove);
  back.addEventListener('click', () => {
    remove();
    undo();
  });
};

/** Puts the text that the service makes of the form, with the chosen template, into its description. */
export const insertTemplate = async (button: HTMLButtonElement): Promise<void> => {
  const { form } = button;
  const [area, applied] = form === null ? [null, null] : [inField(form), appliedIn(form)];
  if (form === null || area === null || applied === null) throw new Error('no description');
  // Fields for files have no name, so all values are texts.
  const body = new URLSearchParams(new FormData(form) as unknown as Record<string, string>);
  const answer = await fetch(button.formAction, { method: 'POST', body, headers: { accept: 'text/html' } });
  const page = answer.ok ? await parsePage(answer) : null;
  const fresh = page === null ? null : inField(page);
  if (page === null || fresh === null) throw new Error('no form');
  const before = { text: area.value, name: applied.value };
  applied.value = appliedIn(page)?.value ?? '';
  if (fresh.value === before.text) return;
  replaceText(area, [0, area.value.length], fresh.value);
  offerUndo(button, area, () => {
    applied.value = before.name;
    replaceText(area, [0, area.value.length], before.text);
  });
};
