import { invalid } from '../../platform/errors.ts';

const maxTitleLength = 255;

export const titleTaken = () => invalid({ title: ['has already been taken'] });

/**
 * Trims and checks a title.
 * @throws Failure 400 for one that is blank or too long
 */
export const checkMilestoneTitle = (text: string): string => {
  const title = text.trim();
  if (title === '') throw invalid({ title: ["can't be blank"] });
  if (title.length > maxTitleLength && [...title].length > maxTitleLength) {
    throw invalid({ title: [`is too long (maximum is ${maxTitleLength} characters)`] });
  }
  return title;
};

/** Checks the dates. @throws Failure 400 for a due date on or before the start date */
export const checkDates = ({
  start_date,
  due_date,
}: {
  start_date: string | null;
  due_date: string | null;
}): void => {
  if (start_date !== null && due_date !== null && due_date <= start_date) {
    throw invalid({ due_date: ['must be greater than start date'] });
  }
};
