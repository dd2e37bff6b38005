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
  area.value = `${area.value}${area.value === '' ? '' : '\n\n'}${quote}\n\n`;
  area.setSelectionRange(area.value.length, area.value.length);
};
