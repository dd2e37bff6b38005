/**
 * Highlights code with classes of highlight.js. Runs in a worker thread, because patterns of a language can take long.
 * A language is loaded at its first use: all take much memory.
 */
import { createRequire } from 'node:module';
import { escapeHtml } from '../../../platform/escape_html.ts';
import { canHighlight, embeddedLanguages, toLanguage } from './languages.ts';

type Highlighter = {
  getLanguage: (name: string) => unknown;
  registerLanguage: (name: string, language: unknown) => void;
  highlight: (code: string, options: { language: string; ignoreIllegals: true }) => { value: string };
};

// Not imported: its types would add browser types everywhere, and its languages must stay out of the bundle.
const load = createRequire(import.meta.url);
let highlighter: Highlighter | null = null;

const getHighlighter = (): Highlighter => (highlighter ??= load('highlight.js/lib/core') as Highlighter);

/** Loads a language and its embedded languages. Returns whether it is known. */
const loadLanguage = (language: string): boolean => {
  if (!canHighlight(language)) return false;
  if (getHighlighter().getLanguage(language) !== undefined) return true;
  getHighlighter().registerLanguage(language, load(`highlight.js/lib/languages/${language}`));
  for (const inner of embeddedLanguages[language] ?? []) loadLanguage(inner);
  return true;
};

/**
 * Returns code as HTML; plain if the language is unknown.
 * @param languageOrFile name of a language, or of a file
 */
export const highlight = (code: string, languageOrFile: string): string => {
  const language = toLanguage(languageOrFile);
  if (!loadLanguage(language)) return escapeHtml(code);
  return getHighlighter().highlight(code, { language, ignoreIllegals: true }).value;
};

const closeTag = '</span>';
const token = /<span class="[\w .-]{1,200}">|<\/span>|\n|[^<\n]+|</g;

/**
 * Returns code as one HTML text for each line, with one more after a last line feed. Elements that span lines are closed at the end of each and opened again in
 * the next. Anything but a `span` with a class is escaped.
 */
export const highlightToLines = (code: string, language: string): string[] => {
  const lines: string[] = [];
  const open: string[] = [];
  let line = '';
  for (const [part] of highlight(code, language).matchAll(token)) {
    if (part === '\n') {
      lines.push(line + closeTag.repeat(open.length));
      line = open.join('');
    } else if (part === closeTag) line += open.pop() === undefined ? '' : closeTag;
    else if (part === '<') line += '&lt;';
    else {
      if (part.startsWith('<span')) open.push(part);
      line += part;
    }
  }
  return [...lines, line + closeTag.repeat(open.length)];
};
