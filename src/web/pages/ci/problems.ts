import { type FormProblems, saidOf } from '../../form.ts';

/**
 * What was wrong, for a form with these fields: what is about none of them is said above it.
 * @param names of the form's fields
 */
export const placedOn = ({ text, fields }: FormProblems, names: readonly string[]): FormProblems => {
  const all = Object.entries(fields);
  const others = all
    .filter(([name]) => !names.includes(name))
    .flatMap(([name, texts]) => texts.map((one) => (name === 'base' ? one : saidOf(name, one))));
  const said = [...(text === null ? [] : [text]), ...others];
  return {
    text: said.length === 0 ? null : said.join('. '),
    fields: Object.fromEntries(all.filter(([name]) => names.includes(name))),
  };
};
