import { invalid } from '../errors.ts';

const longestTitle = 255;

/**
 * A title as it is stored: blanks at its ends are not.
 * @throws Failure 400 for one that is blank or too long
 */
export const checkTitle = (text: string): string => {
  const title = text.trim();
  if (title === '') throw invalid({ title: ["can't be blank"] });
  if (title.length > longestTitle && [...title].length > longestTitle) {
    throw invalid({ title: [`is too long (maximum is ${longestTitle} characters)`] });
  }
  return title;
};
