import type { Visibility } from '../../platform/db/schema/column_types.ts';
import { type Problems, invalid } from '../../platform/errors.ts';
import type { Settings } from '../../core/settings/fields.ts';
import { findVisibilityProblem } from '../../core/settings/setting_effects.ts';
import type { SnippetFile, SnippetFiles } from './files.ts';

const maxNameLength = 255;
/** Maximum number of characters of a file, as of every long text. */
const maxContentLength = 1_048_576;

export type SnippetText = { title: string; files: SnippetFiles };

const lengthProblem = (text: string, most: number): string | null =>
  text.length > most && [...text].length > most ? `is too long (maximum is ${most} characters)` : null;

const titleProblem = (title: string): string | null =>
  title === '' ? "can't be blank" : lengthProblem(title, maxNameLength);

/** A file name, not a path: browsers use it when they save the snippet. */
const fileNameProblem = (name: string): string | null => {
  const problem = lengthProblem(name, maxNameLength);
  if (problem !== null) return problem;
  // In a URL, these two would resolve to another page.
  if (name === '.' || name === '..') return 'is invalid';
  return /^[\p{L}\p{M}\p{N} _.+@-]*$/u.test(name)
    ? null
    : "can contain only letters, digits, blanks, '_', '-', '@', '+' and '.'.";
};

const contentProblem = (content: string): string | null => {
  if (content.trim() === '') return "can't be blank";
  // PostgreSQL stores neither.
  if (content.includes('\0') || !content.isWellFormed()) return 'is invalid';
  return lengthProblem(content, maxContentLength);
};

/** The names of the fields of a file in the error: of the only one, and of one of several. */
const fileProblems = (files: SnippetFiles): Record<string, string | null> => {
  const toEntries = ({ path, content }: SnippetFile, at: number): [string, string | null][] => {
    const [pathName, contentName] =
      files.length === 1 ? ['file_name', 'content'] : [`files[${at}][file_path]`, `files[${at}][content]`];
    return [
      [pathName, fileNameProblem(path)],
      [contentName, contentProblem(content)],
    ];
  };
  return Object.fromEntries(files.flatMap(toEntries));
};

/**
 * Trims and checks the texts of a snippet.
 * @param visibility only if it changes
 * @throws Failure 400
 */
export const checkSnippet = (
  call: { settings: Settings; admin: boolean },
  { title: untrimmed, files: [first, ...others] }: SnippetText,
  visibility: Visibility | null,
): SnippetText => {
  const trim = (file: SnippetFile): SnippetFile => ({ ...file, path: file.path.trim() });
  const title = untrimmed.trim();
  const files = [trim(first), ...others.map(trim)] as const;
  const textProblems: Record<string, string | null> = {
    title: titleProblem(title),
    ...fileProblems(files),
    visibility_level: visibility === null ? null : findVisibilityProblem(call, visibility),
  };
  const problems: Problems = {};
  for (const [name, problem] of Object.entries(textProblems))
    if (problem !== null) problems[name] = [problem];
  if (Object.keys(problems).length > 0) throw invalid(problems);
  return { title, files };
};
