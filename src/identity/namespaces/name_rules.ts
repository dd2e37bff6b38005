/** Rules for the names of groups and projects. Messages are GitLab's. */

const maxNameLength = 255;
/** Line ends, control characters and direction marks, which could fake other names. */
const deceptive = /[\p{Cc}\p{Zl}\p{Zp}\u{202A}-\u{202E}\u{2066}-\u{2069}]/u;
const first = String.raw`[\p{L}\p{M}\p{Nd}\u{A9}-\u{1F9FF}_]`;
const groupName = new RegExp(`^${first}${String.raw`[\p{L}\p{M}\p{Nd}\p{Pd}\u{A9}-\u{1F9FF}_(). ]*$`}`, 'u');
const projectName = new RegExp(`^${first}${String.raw`[\p{L}\p{M}\p{Nd}\p{Pd}\u{A9}-\u{1F9FF}_+. ]*$`}`, 'u');

const start = "It must start with letter, digit, emoji or '_'.";
const groupFormat = `can contain only letters, digits, emojis, '_', '.', dash, space, parenthesis. ${start}`;
const projectFormat = `can contain only letters, digits, emojis, '_', '.', '+', dash, space. ${start}`;

const getNameProblem = (name: string, pattern: RegExp, format: string): string | null => {
  if (name.trim() === '') return "can't be blank";
  if ([...name].length > maxNameLength) return `is too long (maximum is ${maxNameLength} characters)`;
  return pattern.test(name) && !deceptive.test(name) ? null : format;
};

/** Returns the error of a group's name; null: none. */
export const groupNameProblem = (name: string): string | null => getNameProblem(name, groupName, groupFormat);

/** Returns the error of a project's name; null: none. */
export const projectNameProblem = (name: string): string | null =>
  getNameProblem(name, projectName, projectFormat);
