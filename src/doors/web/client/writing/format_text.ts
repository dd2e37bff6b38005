/** Formats the selection of a text area as Markdown; a second time, the format is removed. */
import { replaceText } from './replace_text.ts';

export type Format = 'bold' | 'italic' | 'code' | 'quote' | 'list' | 'tasks' | 'link';

const wrap = (area: HTMLTextAreaElement, mark: string): void => {
  const { value, selectionStart: start, selectionEnd: end } = area;
  const selected = value.slice(start, end);
  const size = mark.length;
  const isWrapped =
    start >= size && value.slice(start - size, start) === mark && value.slice(end, end + size) === mark;
  if (isWrapped) {
    replaceText(area, [start - size, end + size], selected);
    area.setSelectionRange(start - size, end - size);
  } else {
    replaceText(area, [start, end], mark + selected + mark);
    area.setSelectionRange(start + size, end + size);
  }
};

/** Returns the range of the whole lines of the selection. */
const selectedLines = ({ value, selectionStart, selectionEnd }: HTMLTextAreaElement): [number, number] => {
  const end = value.indexOf('\n', selectionEnd);
  return [value.lastIndexOf('\n', selectionStart - 1) + 1, end === -1 ? value.length : end];
};

const prefixLines = (area: HTMLTextAreaElement, prefix: string): void => {
  const [start, end] = selectedLines(area);
  const lines = area.value.slice(start, end).split('\n');
  const isPrefixed = lines.every((line) => line.startsWith(prefix));
  const text = lines.map((line) => (isPrefixed ? line.slice(prefix.length) : prefix + line)).join('\n');
  replaceText(area, [start, end], text);
  // Of several lines, all stay selected for the next format.
  area.setSelectionRange(lines.length > 1 ? start : start + text.length, start + text.length);
};

const writeCode = (area: HTMLTextAreaElement): void => {
  const { value, selectionStart, selectionEnd } = area;
  if (!value.slice(selectionStart, selectionEnd).includes('\n')) return wrap(area, '`');
  const [start, end] = selectedLines(area);
  const text = value.slice(start, end);
  replaceText(area, [start, end], `\`\`\`\n${text}\n\`\`\``);
  area.setSelectionRange(start + 4, start + 4 + text.length);
};

/** Writes a link, and selects what is missing: its text or its address. */
const writeLink = (area: HTMLTextAreaElement): void => {
  const { value, selectionStart: start, selectionEnd: end } = area;
  const selected = value.slice(start, end);
  if (/^https?:\/\/\S+$/.test(selected)) {
    replaceText(area, [start, end], `[](${selected})`);
    return area.setSelectionRange(start + 1, start + 1);
  }
  replaceText(area, [start, end], `[${selected}](url)`);
  const at = selected === '' ? start + 1 : end + 3;
  area.setSelectionRange(at, selected === '' ? at : at + 3);
};

const formats: Record<Format, (area: HTMLTextAreaElement) => void> = {
  bold: (area) => wrap(area, '**'),
  italic: (area) => wrap(area, '_'),
  code: writeCode,
  quote: (area) => prefixLines(area, '> '),
  list: (area) => prefixLines(area, '- '),
  tasks: (area) => prefixLines(area, '- [ ] '),
  link: writeLink,
};

export const formatText = (area: HTMLTextAreaElement, format: Format): void => formats[format](area);
