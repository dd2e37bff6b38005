import { type FormProblems, formatProblem } from '../form_problems.ts';

/**
 * Moves the problems of fields that the form does not have into the text above it.
 * @param names names of the fields of the form
 */
export const moveUnknownToText = ({ text, fields }: FormProblems, names: readonly string[]): FormProblems => {
  const entries = Object.entries(fields);
  const others = entries
    .filter(([name]) => !names.includes(name))
    .flatMap(([name, texts]) => texts.map((one) => (name === 'base' ? one : formatProblem(name, one))));
  const said = [...(text === null ? [] : [text]), ...others];
  return {
    text: said.length === 0 ? null : said.join('. '),
    fields: Object.fromEntries(entries.filter(([name]) => names.includes(name))),
  };
};
