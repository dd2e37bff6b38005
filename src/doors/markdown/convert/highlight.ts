/** Highlights code with classes of highlight.js. A language is loaded at its first use: all take much memory. */
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { escapeHtml } from './html_tokens.ts';
import { embeddedLanguages, toLanguage } from './languages.ts';

type Highlighter = {
  getLanguage: (name: string) => unknown;
  registerLanguage: (name: string, language: unknown) => void;
  highlight: (code: string, options: { language: string; ignoreIllegals: true }) => { value: string };
};

// Not imported: its types add those of a browser to everything, and its languages stay out of the bundle.
const load = createRequire(import.meta.url);
const highlighter = load('highlight.js/lib/core') as Highlighter;

const fileEnding = /\.js$/;
const available = new Set(
  readdirSync(dirname(load.resolve('highlight.js/lib/languages/json')))
    .filter((file) => fileEnding.test(file) && !file.endsWith('.js.js'))
    .map((file) => file.replace(fileEnding, '')),
);

/** Loads a language and those inside of it. Returns whether it is known. */
const loadLanguage = (language: string): boolean => {
  if (!available.has(language)) return false;
  if (highlighter.getLanguage(language) !== undefined) return true;
  highlighter.registerLanguage(language, load(`highlight.js/lib/languages/${language}`));
  for (const inner of embeddedLanguages[language] ?? []) loadLanguage(inner);
  return true;
};

/**
 * Returns code as HTML; plain where the language is unknown.
 * @param languageOrFile name of a language, or of a file
 */
export const highlight = (code: string, languageOrFile: string): string => {
  const language = toLanguage(languageOrFile);
  if (!loadLanguage(language)) return escapeHtml(code);
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value;
};
