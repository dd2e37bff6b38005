/**
 * Loads what only users who write need, when a field for Markdown or code first gets the focus: the buttons that format,
 * the keys that indent, and the completion of references.
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
};
