/** Validation of environment names and URLs. Pure. */
import { type Problems, invalid } from '../../platform/errors.ts';

const maxLength = 255;

const findNameProblems = (name: string): string[] => {
  if (name.trim() === '') return ["can't be blank"];
  if (name.length > maxLength) return [`is too long (maximum is ${maxLength} characters)`];
  if (/^\/|\/$/.test(name) || !/^[\w \-/{}$.]+$/.test(name)) {
    return [
      "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'",
    ];
  }
  return [];
};

/** Returns whether the URL is http(s), and therefore safe to link to; excludes `javascript:` and the like. */
export const isHttpUrl = (url: string): boolean =>
  url.length <= maxLength && /^https?:\/\/\S+$/i.test(url) && URL.canParse(url);

const findUrlProblems = (url: string): string[] => {
  if (url.length > maxLength) return [`is too long (maximum is ${maxLength} characters)`];
  return isHttpUrl(url) ? [] : ['must be a valid URL'];
};

/** @throws Failure 400 by attribute */
export const checkEnvironment = (input: { name?: string; external_url?: string | null }): void => {
  const problemsByField: Problems = {
    name: input.name === undefined ? [] : findNameProblems(input.name),
    external_url: typeof input.external_url === 'string' ? findUrlProblems(input.external_url) : [],
  };
  const problems = Object.entries(problemsByField).filter(([, texts]) => texts.length > 0);
  if (problems.length > 0) throw invalid(Object.fromEntries(problems));
};
