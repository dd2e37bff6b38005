import { type Problems, invalid } from '../../platform/errors.ts';

/**
 * Throws if any attribute has a problem.
 * @throws Failure 400 that names them all
 */
export const refuseProblems = (texts: { [attribute: string]: string | null }): void => {
  const problems: Problems = {};
  for (const [attribute, text] of Object.entries(texts)) {
    if (text !== null) problems[attribute] = [text];
  }
  if (Object.keys(problems).length > 0) throw invalid(problems);
};
