/** Replaces a range of a text area as typing does: it can be undone, and other scripts learn of it. */
export const replaceText = (
  area: HTMLTextAreaElement,
  [start, end]: readonly [number, number],
  text: string,
): void => {
  area.focus();
  area.setSelectionRange(start, end);
  // The only way that keeps the history of the browser's undo.
  if (text === '' ? document.execCommand('delete') : document.execCommand('insertText', false, text)) return;
  area.setRangeText(text, start, end, 'end');
  area.dispatchEvent(new Event('input', { bubbles: true }));
};
