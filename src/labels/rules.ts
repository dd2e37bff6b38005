import { invalid } from '../errors.ts';
import { parseColor } from './colors.ts';

const longestTitle = 255;

export const titleTaken = () => invalid({ title: ['has already been taken'] });

/**
 * A title as it is stored: blanks at its ends are not. A comma would end it wherever labels are listed.
 * @throws Failure 400 for one that is blank, too long or has a comma
 */
export const checkLabelTitle = (text: string): string => {
  const title = text.trim();
  if (title === '') throw invalid({ title: ["can't be blank"] });
  if (title.includes(',')) throw invalid({ title: ['is invalid'] });
  if (title.length > longestTitle && [...title].length > longestTitle) {
    throw invalid({ title: [`is too long (maximum is ${longestTitle} characters)`] });
  }
  return title;
};

/** @throws Failure 400 for what is no colour */
export const checkColor = (text: string): string => {
  const color = parseColor(text);
  if (color === null) throw invalid({ color: ['must be a valid color code'] });
  return color;
};
