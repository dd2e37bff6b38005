/** Formats the selection of a text area as Markdown; applying a format again removes it. */
import { replaceText } from './replace_text.ts';
import { selectedLines } from './selected_lines.ts';

export type Format =
  | 'bold'
  | 'italic'
  | 'strike'
  | 'heading'
  | 'code'
  | 'quote'
  | 'list'
  | 'numbers'
  | 'tasks'
  | 'table'
  | 'link';

/** Returns the selection without white space at its ends. Markdown marks next to white space have no effect. */
const trimmedSelection = ({ value, selectionStart, selectionEnd }: HTMLTextAreaElement): [number, number] => {
  const selected = value.slice(selectionStart, selectionEnd);
  if (selected.trim() === '') return [selectionStart, selectionEnd];
  const before = selected.length - selected.trimStart().length;
  return [selectionStart + before, selectionEnd - (selected.length - selected.trimEnd().length)];
};

/** Counts the asterisks next to the text, on the side with fewer: one is italic, two are bold, three are both. */
const countAsterisks = (value: string, start: number, end: number): number =>
  Math.min(
    /\**$/.exec(value.slice(0, start))?.[0].length ?? 0,
    /^\**/.exec(value.slice(end))?.[0].length ?? 0,
  );

const isWrappedBy = (value: string, [start, end]: readonly [number, number], mark: string): boolean => {
  if (mark === '**') return countAsterisks(value, start, end) >= 2;
  if (mark === '*') return countAsterisks(value, start, end) % 2 === 1;
  return value.slice(0, start).endsWith(mark) && value.startsWith(mark, end);
};

const wrap = (area: HTMLTextAreaElement, mark: string): void => {
  const { value } = area;
  const [start, end] = trimmedSelection(area);
  const selected = value.slice(start, end);
  const size = mark.length;
  if (isWrappedBy(value, [start, end], mark)) {
    replaceText(area, [start - size, end + size], selected);
    area.setSelectionRange(start - size, end - size);
  } else {
    replaceText(area, [start, end], mark + selected + mark);
    area.setSelectionRange(start + size, end + size);
  }
};

type LineFormat = {
  /** Finds the format at the start of a line. */
  prefix: RegExp;
  write: (line: string, index: number) => string;
};

const formatLines = (area: HTMLTextAreaElement, { prefix, write }: LineFormat): void => {
  const [start, end] = selectedLines(area);
  const lines = area.value.slice(start, end).split('\n');
  const isFormatted = lines.every((line) => prefix.test(line));
  const text = lines.map((line, at) => (isFormatted ? line.replace(prefix, '') : write(line, at))).join('\n');
  replaceText(area, [start, end], text);
  // If there are several lines, all stay selected for the next format.
  area.setSelectionRange(lines.length > 1 ? start : start + text.length, start + text.length);
};

const lineFormats = {
  quote: { prefix: /^> /, write: (line) => `> ${line}` },
  list: { prefix: /^- /, write: (line) => `- ${line}` },
  tasks: { prefix: /^- \[ \] /, write: (line) => `- [ ] ${line}` },
  numbers: { prefix: /^\d+\. /, write: (line, at) => `${at + 1}. ${line}` },
  heading: { prefix: /^## /, write: (line) => `## ${line}` },
} satisfies Record<string, LineFormat>;

/** Writes an empty table after the selected lines, or in place of blank ones, and selects the title of its first column. */
const writeTable = (area: HTMLTextAreaElement): void => {
  const [start, end] = selectedLines(area);
  const gap = area.value.slice(start, end).trim() === '' ? '' : '\n\n';
  const at = gap === '' ? start : end;
  replaceText(area, [at, end], `${gap}| Column | Column |\n| ------ | ------ |\n|        |        |\n`);
  area.setSelectionRange(at + gap.length + 2, at + gap.length + 8);
};

const writeCode = (area: HTMLTextAreaElement): void => {
  const { value, selectionStart, selectionEnd } = area;
  const [start, end] = selectedLines(area);
  if (!value.slice(selectionStart, Math.min(selectionEnd, end)).includes('\n')) return wrap(area, '`');
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
  // Within a word, underscores do not format.
  italic: (area) => wrap(area, '*'),
  strike: (area) => wrap(area, '~~'),
  heading: (area) => formatLines(area, lineFormats.heading),
  code: writeCode,
  quote: (area) => formatLines(area, lineFormats.quote),
  list: (area) => formatLines(area, lineFormats.list),
  numbers: (area) => formatLines(area, lineFormats.numbers),
  tasks: (area) => formatLines(area, lineFormats.tasks),
  table: writeTable,
  link: writeLink,
};

export const formatText = (area: HTMLTextAreaElement, format: Format): void => formats[format](area);
