/** Rows for the URL variables and custom headers of a hook, whose values are never shown. */
import { checkbox, hidden, input } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { fieldText, isTicked } from '../../parts/fields/field_text.ts';

export type KeyValueRow = {
  key: string;
  value: string;
  /** A value is stored; an empty field keeps it. */
  isStored: boolean;
  isRemoved: boolean;
};

const maxRows = 20;
const blankRows = 2;

/** Reads the rows of a form that are not empty. */
export const readRows = (sent: unknown): KeyValueRow[] =>
  (typeof sent === 'object' && sent !== null ? Object.values(sent) : [])
    .slice(0, maxRows + blankRows)
    .map((part) => {
      const { key, value, stored, remove } = (part ?? {}) as Record<string, unknown>;
      return {
        key: fieldText(key).trim(),
        value: fieldText(value),
        isStored: isTicked(stored),
        isRemoved: isTicked(remove),
      };
    })
    .filter(({ key, value }) => key !== '' || value !== '');

/** Converts rows to the parameter of the API: a key without a value keeps the stored one. */
export const toParameter = (rows: readonly KeyValueRow[]): { key: string; value?: string }[] =>
  rows
    .filter(({ isRemoved }) => !isRemoved)
    .map(({ key, value, isStored }) => (isStored && value === '' ? { key } : { key, value }));

type KeyValueRowsOptions = {
  name: string;
  legend: string;
  one: string;
  hint: string;
  problems: FormProblems;
};

const blank: KeyValueRow = { key: '', value: '', isStored: false, isRemoved: false };

/** Problem of a field whose secret was in a refused form: no page shows it again. */
export const typeAgain = 'Type it again: it was not saved.';

/** Returns whether a refused form had a value in this row, which was lost. */
export const isLost = ({ value, isRemoved }: KeyValueRow): boolean => value !== '' && !isRemoved;

const rowFields = ({ name, one }: KeyValueRowsOptions, row: KeyValueRow, at: number): Html => {
  const of = (part: string): string => `${name}[${at}][${part}]`;
  const value = input({
    name: of('value'),
    label: 'Value',
    type: 'password',
    autocomplete: 'off',
    value: '',
    ...(isLost(row) && { problems: { text: null, fields: { [of('value')]: [typeAgain] } } }),
    ...(row.isStored && { hint: 'Stored. Leave it empty to keep it.' }),
  });
  if (row.isStored)
    return html`<fieldset class="filter"><legend>${row.key}</legend>${hidden(of('key'), row.key)}${hidden(of('stored'), '1')}${value}${checkbox(
      { name: of('remove'), label: 'Remove', checked: row.isRemoved },
    )}</fieldset>
`;
  return html`<fieldset class="filter"><legend>${one} ${at + 1}</legend>${input({ name: of('key'), label: 'Name', value: row.key })}${value}</fieldset>
`;
};

/** Renders the rows, and empty rows for more. */
export const keyValueRows = (options: KeyValueRowsOptions, rows: readonly KeyValueRow[]): Html => {
  const { name, legend, hint, problems } = options;
  const blanks = Array.from({ length: Math.max(0, Math.min(blankRows, maxRows - rows.length)) }, () => blank);
  const wrong = problems.fields[name] ?? [];
  return html`<fieldset${wrong.length > 0 && html` aria-describedby="${name}_error"`}>
<legend>${legend}</legend><p class="hint">${hint}</p>${
    wrong.length > 0 && html`<p class="error" id="${name}_error">${legend}: ${wrong.join('. ')}</p>`
  }
${[...rows, ...blanks].map((row, at) => rowFields(options, row, at))}</fieldset>
`;
};
