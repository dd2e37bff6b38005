/**
 * Loads what only users who write need, when a field for Markdown or code first gets the focus: the buttons that format,
 * the keys that indent, the completion of references, and templates.
 */
import type * as EditorTools from '../editing/editor_tools.ts';

type Tools = typeof EditorTools;

let tools: Promise<Tools> | undefined;

const load = async (): Promise<Tools> => {
  tools ??= import(document.body.dataset['editorTools'] ?? '') as Promise<Tools>;
  try {
    return await tools;
  } catch (error) {
    // The next focus tries again.
    tools = undefined;
    throw error;
  }
};

const format = async (button: HTMLElement): Promise<void> => (await load()).formatBy(button);

export const startEditorTools = (): void => {
  document.addEventListener('focusin', ({ target }) => {
    const isEditor =
      target instanceof Element && target.closest('.markdown-editor, [data-code-editor]') !== null;
    // Without the tools, the field stays a field.
    if (isEditor) void load().catch(() => undefined);
  });
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('[data-format]') : null;
    if (button !== null) void format(button).catch(() => undefined);
  });
  document.addEventListener('click', (event) => {
    const { target } = event;
    const button =
      target instanceof Element ? target.closest<HTMLButtonElement>('button[data-template]') : null;
    if (button === null) return;
    event.preventDefault();
    // If the text cannot be inserted, the service shows the form again.
    void load()
      .then(async (loaded) => await loaded.insertTemplate(button))
      .catch(() => button.form?.requestSubmit(button));
  });
};
