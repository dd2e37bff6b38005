/**
 * Checkboxes of task lists: each submits the form `[data-tasks]` next to its text, with the line of the task, and the text
 * is replaced by what was saved.
 */
import { parsePage } from '../fetch_page.ts';
import { refreshEntry } from './refresh_entry.ts';
import { showProblem } from '../show_problem.ts';

const setField = (form: HTMLFormElement, name: string, value: string): void => {
  const field = form.elements.namedItem(name);
  if (field instanceof HTMLInputElement) field.value = value;
};

const submit = async (form: HTMLFormElement): Promise<void> => {
  const entry = form.closest('[id^=note_], #description');
  if (entry === null) return form.submit();
  const body = new URLSearchParams([...new FormData(form)] as [string, string][]);
  const answer = await fetch(form.action, { method: 'POST', body, redirect: 'manual' });
  const problem = answer.type === 'opaqueredirect' ? null : await parsePage(answer);
  // Also after a refusal: the text is no longer what the page shows.
  const fresh = await refreshEntry(entry.id);
  if (fresh === null || problem !== null) {
    showProblem((fresh ?? entry).querySelector('[data-text]') ?? entry, problem);
  }
};

/** Enables the checkboxes of the texts that the viewer may edit. */
export const enableTasks = (): void => {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-tasks]')) {
    const boxes = form.parentElement?.querySelectorAll<HTMLInputElement>('input[data-line]:disabled') ?? [];
    for (const box of boxes) {
      box.disabled = false;
      box.setAttribute('aria-label', box.closest('li')?.textContent.trim() ?? 'Task');
      box.addEventListener('change', () => {
        setField(form, 'line', box.dataset['line'] ?? '');
        setField(form, 'done', box.checked ? '1' : '0');
        void submit(form).catch(() => form.submit());
      });
    }
  }
};
