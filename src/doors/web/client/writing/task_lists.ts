/**
 * Tasks of texts: a button submits the form `[data-tasks]` next to its text, with the line of the task, and the text is
 * replaced by what was saved.
 */
import { parsePage } from '../fetch_page.ts';
import { refreshEntry } from './refresh_entry.ts';
import { showProblem } from '../show_problem.ts';

const submit = async (form: HTMLFormElement, entry: Element, button: HTMLElement): Promise<void> => {
  const body = new URLSearchParams([...new FormData(form, button)] as [string, string][]);
  button.ariaChecked = String(button.ariaChecked !== 'true');
  const answer = await fetch(form.action, { method: 'POST', body, redirect: 'manual' });
  const problem = answer.type === 'opaqueredirect' ? null : await parsePage(answer);
  // Also after a refusal, because the text is no longer the text that the page shows.
  const fresh = await refreshEntry(entry.id);
  const line = button.getAttribute('value') ?? '';
  fresh?.querySelector<HTMLElement>(`[data-text] .task[value="${line}"]`)?.focus();
  if (fresh === null || problem !== null) {
    showProblem((fresh ?? entry).querySelector('[data-text]') ?? entry, problem);
  }
};

export const startTasks = (): void => {
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement;
    const button = event.submitter;
    const entry = form.closest('[id^=note_], #description');
    if (!form.matches('[data-tasks]') || button === null || entry === null) return;
    event.preventDefault();
    void submit(form, entry, button).catch(() => {
      const line = button.getAttribute('value') ?? '';
      form.append(
        Object.assign(document.createElement('input'), { type: 'hidden', name: 'line', value: line }),
      );
      form.submit();
    });
  });
};
