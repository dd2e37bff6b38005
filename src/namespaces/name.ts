/** What a group or a project may be called. Texts are GitLab's. */

const longestName = 255;
/** Line ends, controls, and marks that turn the direction of what follows: they fake other names. */
const deceptive = /[\p{Cc}\p{Zl}\p{Zp}\u{202A}-\u{202E}\u{2066}-\u{2069}]/u;
const first = String.raw`[\p{L}\p{M}\p{Nd}\u{A9}-\u{1F9FF}_]`;
const groupName = new RegExp(`^${first}${String.raw`[\p{L}\p{M}\p{Nd}\p{Pd}\u{A9}-\u{1F9FF}_(). ]*$`}`, 'u');
const projectName = new RegExp(`^${first}${String.raw`[\p{L}\p{M}\p{Nd}\p{Pd}\u{A9}-\u{1F9FF}_+. ]*$`}`, 'u');

const start = "It must start with letter, digit, emoji or '_'.";
const groupFormat = `can contain only letters, digits, emojis, '_', '.', dash, space, parenthesis. ${start}`;
const projectFormat = `can contain only letters, digits, emojis, '_', '.', '+', dash, space. ${start}`;

const problemOf = (name: string, pattern: RegExp, format: string): string | null => {
  if (name.trim() === '') return "can't be blank";
  if ([...name].length > longestName) return `is too long (maximum is ${longestName} characters)`;
  return pattern.test(name) && !deceptive.test(name) ? null : format;
};

/** What is wrong with the name of a group; null: nothing. */
export const groupNameProblem = (name: string): string | null => problemOf(name, groupName, groupFormat);

/** What is wrong with the name of a project; null: nothing. */
export const projectNameProblem = (name: string): string | null =>
  problemOf(name, projectName, projectFormat);
