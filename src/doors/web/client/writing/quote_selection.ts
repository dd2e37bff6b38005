import { appendText } from './insert_text.ts';

/** Quotes selected text of a comment or description in a text field. */
export const quoteSelection = (area: HTMLTextAreaElement): void => {
  const selection = getSelection();
  const text = selection?.toString().trim() ?? '';
  const node = selection?.anchorNode ?? null;
  const start = node instanceof Element ? node : node?.parentElement;
  if (text === '' || !start?.closest('.prose')) return;
  const quote = text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
  appendText(area, `${quote}\n\n`);
};
