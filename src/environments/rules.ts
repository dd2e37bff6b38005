/** What an environment may be called and point to. Pure. */
import { type Problems, invalid } from '../errors.ts';

const longest = 255;

const nameProblems = (name: string): string[] => {
  if (name.trim() === '') return ["can't be blank"];
  if (name.length > longest) return [`is too long (maximum is ${longest} characters)`];
  if (/^\/|\/$/.test(name) || !/^[\w \-/{}$.]+$/.test(name)) {
    return [
      "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'",
    ];
  }
  return [];
};

/** Whether a page may link to it: `javascript:` and the like are no addresses of an environment. */
export const isAddress = (url: string): boolean =>
  url.length <= longest && /^https?:\/\/\S+$/i.test(url) && URL.canParse(url);

const urlProblems = (url: string): string[] => {
  if (url.length > longest) return [`is too long (maximum is ${longest} characters)`];
  return isAddress(url) ? [] : ['must be a valid URL'];
};

/** @throws Failure 400 by attribute */
export const checkEnvironment = (given: { name?: string; external_url?: string | null }): void => {
  const found: Problems = {
    name: given.name === undefined ? [] : nameProblems(given.name),
    external_url: typeof given.external_url === 'string' ? urlProblems(given.external_url) : [],
  };
  const problems = Object.entries(found).filter(([, texts]) => texts.length > 0);
  if (problems.length > 0) throw invalid(Object.fromEntries(problems));
};
