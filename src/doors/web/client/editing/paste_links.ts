/** An address that is pasted over selected text of a Markdown field makes a link of it. */
import { replaceText } from './replace_text.ts';

const address = /^https?:\/\/\S+$/;

export const pasteLink = (event: ClipboardEvent, area: HTMLTextAreaElement): void => {
  const { value, selectionStart: start, selectionEnd: end } = area;
  const pasted = event.clipboardData?.getData('text/plain').trim() ?? '';
  const selected = value.slice(start, end);
  // Over an address or several lines, it is meant to replace them.
  if (!address.test(pasted) || selected.trim() === '' || /\n/.test(selected) || address.test(selected.trim()))
    return;
  event.preventDefault();
  const target = pasted.replaceAll('(', '%28').replaceAll(')', '%29');
  replaceText(area, [start, end], `[${selected}](${target})`);
};
