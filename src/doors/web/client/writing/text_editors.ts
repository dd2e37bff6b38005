/**
 * Fields for text: Ctrl+Enter submits their form, and a field for Markdown (`parts/markdown_editor.ts`) switches between
 * text and preview, by its buttons or Ctrl+Shift+P.
 */
type Mode = 'write' | 'preview';

const fetchPreview = async (editor: HTMLElement, area: HTMLTextAreaElement): Promise<string | null> => {
  const token = area.form?.querySelector<HTMLInputElement>('[name=authenticity_token]')?.value ?? '';
  const { project } = editor.dataset;
  const body = new URLSearchParams({ text: area.value, ...(project !== undefined && { project }) });
  try {
    const headers = { 'x-csrf-token': token };
    const answer = await fetch('/-/preview_markdown', { method: 'POST', headers, body, redirect: 'error' });
    return answer.ok ? await answer.text() : null;
  } catch {
    return null;
  }
};

const showMode = async (editor: HTMLElement, mode: Mode): Promise<void> => {
  const area = editor.querySelector('textarea');
  const preview = editor.querySelector<HTMLElement>('.preview');
  if (area === null || preview === null) return;
  for (const button of editor.querySelectorAll<HTMLElement>('[data-mode]')) {
    button.setAttribute('aria-pressed', String(button.dataset['mode'] === mode));
  }
  const isPreview = mode === 'preview';
  if (isPreview) {
    preview.style.minHeight = `${area.offsetHeight}px`;
    preview.textContent = 'Loading the preview';
  }
  area.hidden = isPreview;
  preview.hidden = !isPreview;
  if (!isPreview) return area.focus();
  // Allows the shortcut to switch back.
  preview.focus();
  const rendered = area.value.trim() === '' ? '' : await fetchPreview(editor, area);
  if (rendered === null) preview.textContent = 'The preview could not be loaded. Your text is unchanged.';
  else if (rendered === '') preview.textContent = 'Nothing to preview';
  // The service sanitized it.
  else preview.innerHTML = rendered;
};

const toggle = (editor: HTMLElement): void => {
  const isPreview = editor.querySelector<HTMLElement>('.preview')?.hidden === false;
  void showMode(editor, isPreview ? 'write' : 'preview');
};

/** Submits as a click on the main button does. */
const submit = (form: HTMLFormElement): void =>
  form.requestSubmit(form.querySelector<HTMLButtonElement>('button.primary:not([type=button])'));

/** Adds to a small field what the page has once for all of them, when it opens. */
const complete = (editor: HTMLElement): void => {
  const template = document.querySelector<HTMLTemplateElement>('#editor_template');
  const area = editor.querySelector('textarea');
  if (template === null || area === null || editor.querySelector('.preview') !== null) return;
  const parts = document.importNode(template.content, true);
  const preview = parts.querySelector('.preview');
  editor.prepend(parts);
  if (preview !== null) area.after(preview);
};

const completeIn = (part: ParentNode): void =>
  part.querySelectorAll<HTMLElement>('.markdown-editor').forEach(complete);

export const startEditors = (): void => {
  document.querySelectorAll('details[open]').forEach(completeIn);
  // The event does not bubble.
  document.addEventListener('toggle', ({ target }) => completeIn(target as HTMLElement), true);
  document.addEventListener('click', ({ target }) => {
    const button = (target as Element).closest<HTMLElement>('.markdown-editor [data-mode]');
    const editor = button?.closest<HTMLElement>('.markdown-editor');
    if (editor) void showMode(editor, button?.dataset['mode'] === 'preview' ? 'preview' : 'write');
  });
  document.addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, shiftKey, target } = event;
    if (!(ctrlKey || metaKey) || !(target instanceof HTMLElement)) return;
    if (key === 'Enter' && target instanceof HTMLTextAreaElement && target.form !== null) {
      event.preventDefault();
      submit(target.form);
    }
    const editor =
      shiftKey && key.toLowerCase() === 'p' ? target.closest<HTMLElement>('.markdown-editor') : null;
    if (editor === null) return;
    event.preventDefault();
    toggle(editor);
  });
};
