import { invalid } from '../../platform/errors.ts';
import { parseColor } from './colors.ts';

const maxTitleLength = 255;

export const titleTaken = () => invalid({ title: ['has already been taken'] });

/**
 * Trims and checks a title. Commas are refused, because they separate labels in lists.
 * @throws Failure 400 for a title that is blank, too long or has a comma
 */
export const checkLabelTitle = (text: string): string => {
  const title = text.trim();
  if (title === '') throw invalid({ title: ["can't be blank"] });
  if (title.includes(',')) throw invalid({ title: ['is invalid'] });
  if (title.length > maxTitleLength && [...title].length > maxTitleLength) {
    throw invalid({ title: [`is too long (maximum is ${maxTitleLength} characters)`] });
  }
  return title;
};

/** Parses a color. @throws Failure 400 for an invalid one */
export const checkColor = (text: string): string => {
  const color = parseColor(text);
  if (color === null) throw invalid({ color: ['must be a valid color code'] });
  return color;
};
