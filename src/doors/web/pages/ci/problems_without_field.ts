import { type FormProblems, saidOf } from '../../parts/form.ts';

/**
 * Moves problems of unknown fields into the text above the form.
 * @param names of the form's fields
 */
export const moveToFields = ({ text, fields }: FormProblems, names: readonly string[]): FormProblems => {
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
