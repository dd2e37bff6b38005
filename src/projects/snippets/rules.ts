import type { Visibility } from '../../platform/db/schema/column_types.ts';
import { type Problems, invalid } from '../../platform/errors.ts';
import type { Settings } from '../../core/settings/fields.ts';
import { findVisibilityProblem } from '../../core/settings/setting_effects.ts';

const maxNameLength = 255;

export type SnippetText = { title: string; file_name: string; content: string };

const isLong = (text: string): boolean => text.length > maxNameLength && [...text].length > maxNameLength;
const tooLong = `is too long (maximum is ${maxNameLength} characters)`;

const titleProblem = (title: string): string | null => {
  if (title === '') return "can't be blank";
  return isLong(title) ? tooLong : null;
};

/** A file name, not a path: browsers use it when they save the snippet. */
const fileNameProblem = (name: string): string | null => {
  if (isLong(name)) return tooLong;
  return /^[\p{L}\p{M}\p{N} _.+@-]*$/u.test(name)
    ? null
    : "can contain only letters, digits, blanks, '_', '-', '@', '+' and '.'.";
};

/**
 * Trims and checks the texts of a snippet.
 * @param visibility only if it changes
 * @throws Failure 400
 */
export const checkSnippet = (
  call: { settings: Settings; admin: boolean },
  input: SnippetText,
  visibility: Visibility | null,
): SnippetText => {
  const text = { ...input, title: input.title.trim(), file_name: input.file_name.trim() };
  const textProblems: Record<string, string | null> = {
    title: titleProblem(text.title),
    file_name: fileNameProblem(text.file_name),
    content: text.content.trim() === '' ? "can't be blank" : null,
    visibility_level: visibility === null ? null : findVisibilityProblem(call, visibility),
  };
  const problems: Problems = {};
  for (const [name, problem] of Object.entries(textProblems))
    if (problem !== null) problems[name] = [problem];
  if (Object.keys(problems).length > 0) throw invalid(problems);
  return text;
};
