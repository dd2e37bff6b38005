import { type Problems, invalid } from '../errors.ts';

/**
 * Refuses attributes that have a problem.
 * @throws Failure 400 that names them all
 */
export const refuseProblems = (found: { [attribute: string]: string | null }): void => {
  const problems: Problems = {};
  for (const [attribute, text] of Object.entries(found)) {
    if (text !== null) problems[attribute] = [text];
  }
  if (Object.keys(problems).length > 0) throw invalid(problems);
};
