import { invalid } from '../../../platform/errors.ts';

export const maxTitleLength = 255;

const titleProblem = (title: string): string | null => {
  if (title === '') return "can't be blank";
  const isLong = title.length > maxTitleLength && [...title].length > maxTitleLength;
  return isLong ? `is too long (maximum is ${maxTitleLength} characters)` : null;
};

/** Returns whether a text is a valid title. */
export const isTitle = (text: string): boolean => titleProblem(text.trim()) === null;

/**
 * Trims a title for storage.
 * @throws Failure 400 for one that is blank or too long
 */
export const checkTitle = (text: string): string => {
  const title = text.trim();
  const problem = titleProblem(title);
  if (problem !== null) throw invalid({ title: [problem] });
  return title;
};
