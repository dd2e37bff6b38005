/** Rules for the attributes of users. Messages are GitLab's. */
import type { Problems } from '../../platform/errors.ts';
import { pathProblem } from '../namespaces/path_rules.ts';
import { commonPasswords } from './common_passwords.ts';

const shortestPassword = 8;
export const maxPasswordLength = 128;
const maxTextLength = 255;

/** One `@`, no spaces, nothing special in a mail header, nothing invisible. */
const emailFormat = /^[^@\s<>()[\]\\,;:"\p{C}]+@[^@\s<>()[\]\\,;:"\p{C}]+$/u;
/** Line ends, control characters and direction marks, which could fake other names. */
const deceptive = /[\p{Cc}\p{Zl}\p{Zp}\u{202A}-\u{202E}\u{2066}-\u{2069}]/u;
const scheme = /^[a-z][a-z\d+.-]*:(?!\d)/i;

/** Normalizes an address, for addresses are stored and compared in lower case. */
export const normalizedEmail = (email: string): string => email.trim().toLowerCase();

const isTooLong = (text: string): boolean => [...text].length > maxTextLength;
const tooLong = `is too long (maximum is ${maxTextLength} characters)`;

const emailProblem = (email: string): string | null => {
  const address = normalizedEmail(email);
  if (address === '') return "can't be blank";
  if (isTooLong(address)) return tooLong;
  return emailFormat.test(address) ? null : 'is invalid';
};

/** Returns the error of a display name; null: none. */
export const nameProblem = (name: string): string | null => {
  if (name.trim() === '') return "can't be blank";
  if (isTooLong(name)) return tooLong;
  return deceptive.test(name) ? 'is invalid' : null;
};

/** Returns the error of a link; null: none. It must open as a web page; without a scheme, `http://` is assumed. */
const urlProblem = (url: string): string | null => {
  if (url === '') return null;
  const isWeb = /^https?:\/\//i.test(url);
  if (!isWeb && scheme.test(url)) return 'is not a valid URL';
  return URL.canParse(isWeb ? url : `http://${url}`) && !/[\s<>"]/.test(url) ? null : 'is not a valid URL';
};

/** Returns the error of a password; null: none. `own`: the user's names, which are refused as passwords. */
export const passwordProblem = (
  password: string,
  own: readonly (string | undefined)[] = [],
): string | null => {
  const { length } = [...password];
  if (length === 0) return "can't be blank";
  if (length < shortestPassword) return `is too short (minimum is ${shortestPassword} characters)`;
  if (length > maxPasswordLength) return `is too long (maximum is ${maxPasswordLength} characters)`;
  const word = password.toLowerCase();
  const isGuessed =
    commonPasswords.has(word) ||
    new Set(word).size < 3 ||
    own.some((name) => name?.trim().toLowerCase() === word);
  return isGuessed ? 'must not contain commonly used combinations of words and letters' : null;
};

/** Attributes with rules. Absent attributes are not checked. */
export type CheckedUser = {
  email?: string;
  name?: string;
  username?: string;
  password?: string | null;
  website_url?: string | null;
};

/** Returns the error of each attribute. */
export const userProblems = (input: CheckedUser): Problems => {
  const { email, name, username, password, website_url } = input;
  const texts: Record<string, string | null> = {
    email: email === undefined ? null : emailProblem(email),
    name: name === undefined ? null : nameProblem(name),
    username: username === undefined ? null : pathProblem(username),
    password: typeof password === 'string' ? passwordProblem(password, [username, name, email]) : null,
    website_url: urlProblem(website_url ?? ''),
  };
  const problems: Problems = {};
  for (const [property, problem] of Object.entries(texts)) {
    if (problem !== null) problems[property] = [problem];
  }
  return problems;
};
