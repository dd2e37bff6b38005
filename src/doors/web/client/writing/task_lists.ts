/** Checkboxes of task lists: each submits the form `[data-tasks]` next to its text, with the line of the task. */
const setField = (form: HTMLFormElement, name: string, value: string): void => {
  const field = form.elements.namedItem(name);
  if (field instanceof HTMLInputElement) field.value = value;
};

export const startTasks = (): void => {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-tasks]')) {
    const boxes = form.parentElement?.querySelectorAll<HTMLInputElement>('input[data-line]') ?? [];
    for (const box of boxes) {
      box.disabled = false;
      box.setAttribute('aria-label', box.closest('li')?.textContent.trim() ?? 'Task');
      box.addEventListener('change', () => {
        setField(form, 'line', box.dataset['line'] ?? '');
        setField(form, 'done', box.checked ? '1' : '0');
        form.requestSubmit();
      });
    }
  }
};
