/** What a user's attributes must be, in GitLab's words. */
import type { Problems } from '../errors.ts';
import { pathProblem } from '../namespaces/path.ts';
import { commonPasswords } from './common_passwords.ts';

const shortestPassword = 8;
export const longestPassword = 128;
const longestText = 255;

/** One `@`, no blanks, nothing that has a meaning in a mail header, nothing invisible. */
const emailFormat = /^[^@\s<>()[\]\\,;:"\p{C}]+@[^@\s<>()[\]\\,;:"\p{C}]+$/u;
/** Line ends, controls, and marks that turn the direction of what follows: they fake other names. */
const deceptive = /[\p{Cc}\p{Zl}\p{Zp}\u{202A}-\u{202E}\u{2066}-\u{2069}]/u;
const scheme = /^[a-z][a-z\d+.-]*:(?!\d)/i;

/** Addresses are kept and compared in lower case. */
export const normalizedEmail = (email: string): string => email.trim().toLowerCase();

const isTooLong = (text: string): boolean => [...text].length > longestText;
const tooLong = `is too long (maximum is ${longestText} characters)`;

const emailProblem = (email: string): string | null => {
  const address = normalizedEmail(email);
  if (address === '') return "can't be blank";
  if (isTooLong(address)) return tooLong;
  return emailFormat.test(address) ? null : 'is invalid';
};

/** Of a name that is shown to others. */
export const nameProblem = (name: string): string | null => {
  if (name.trim() === '') return "can't be blank";
  if (isTooLong(name)) return tooLong;
  return deceptive.test(name) ? 'is invalid' : null;
};

/** Only a link that a browser opens as a page; without a scheme, `http://` is meant. */
const urlProblem = (url: string): string | null => {
  if (url === '') return null;
  const isWeb = /^https?:\/\//i.test(url);
  if (!isWeb && scheme.test(url)) return 'is not a valid URL';
  return URL.canParse(isWeb ? url : `http://${url}`) && !/[\s<>"]/.test(url) ? null : 'is not a valid URL';
};

/** What is wrong with a password; null: nothing. `own`: the user's other names, no good as a password. */
export const passwordProblem = (
  password: string,
  own: readonly (string | undefined)[] = [],
): string | null => {
  const { length } = [...password];
  if (length === 0) return "can't be blank";
  if (length < shortestPassword) return `is too short (minimum is ${shortestPassword} characters)`;
  if (length > longestPassword) return `is too long (maximum is ${longestPassword} characters)`;
  const word = password.toLowerCase();
  const isGuessed =
    commonPasswords.has(word) ||
    new Set(word).size < 3 ||
    own.some((name) => name?.trim().toLowerCase() === word);
  return isGuessed ? 'must not contain commonly used combinations of words and letters' : null;
};

/** The attributes that have rules; absent: not changed. */
export type Checked = {
  email?: string;
  name?: string;
  username?: string;
  password?: string | null;
  website_url?: string | null;
};

/** Each attribute with what is wrong with it. */
export const userProblems = (given: Checked): Problems => {
  const { email, name, username, password, website_url } = given;
  const found: Record<string, string | null> = {
    email: email === undefined ? null : emailProblem(email),
    name: name === undefined ? null : nameProblem(name),
    username: username === undefined ? null : pathProblem(username),
    password: typeof password === 'string' ? passwordProblem(password, [username, name, email]) : null,
    website_url: urlProblem(website_url ?? ''),
  };
  const problems: Problems = {};
  for (const [property, problem] of Object.entries(found)) {
    if (problem !== null) problems[property] = [problem];
  }
  return problems;
};
