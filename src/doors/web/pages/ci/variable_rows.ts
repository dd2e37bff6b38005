/** Rows for variables of a pipeline or of a started job. */
import { hidden, input, select, textArea } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { fieldText } from '../../parts/fields/field_text.ts';

/** As submitted, or as prefilled from the configuration. */
export type Row = {
  key: string;
  value: string;
  variable_type?: string;
  /** Set for a variable that the configuration describes. */
  described?: { description: string; options: readonly string[] | null };
};

const types = [
  ['env_var', 'Variable'],
  ['file', 'File'],
] as const;

/** Empty rows at first, and per request for more. */
const blankRows = 3;
const mostRows = 200;

const partsOf = (sent: unknown): unknown[] =>
  typeof sent === 'object' && sent !== null ? Object.values(sent) : [];

/** Reads the rows of a form that are not empty. */
export const filledRows = (sent: unknown): Row[] =>
  partsOf(sent)
    .slice(0, mostRows + 1)
    .map((part) => {
      const { key, value, variable_type } = (part ?? {}) as Record<string, unknown>;
      const type = fieldText(variable_type);
      return {
        key: fieldText(key).trim(),
        value: fieldText(value),
        ...(type !== '' && { variable_type: type }),
      };
    })
    .filter(({ key, value }) => key !== '' || value !== '');

const blank = (count: number): Row[] => Array.from({ length: count }, () => ({ key: '', value: '' }));

/** Appends empty rows for further input. */
export const withBlankRows = (rows: readonly Row[]): Row[] => [
  ...rows,
  ...blank(Math.max(0, Math.min(blankRows, mostRows - rows.length))),
];

type VariableRowsOptions = { name: string; hasTypes: boolean };

const valueField = (name: string, { key, value, described }: Row): Html => {
  const label = key === '' ? 'Value' : key;
  const hint = described?.description ?? '';
  const shared = { name, label, ...(hint !== '' && { hint }) };
  const options = described?.options ?? null;
  return options === null
    ? textArea({ ...shared, value, rows: value.split('\n').length })
    : select({ ...shared, value, options: options.map((one) => [one, one]) });
};

const row = ({ name, hasTypes }: VariableRowsOptions, one: Row, at: number): Html => {
  const fieldName = (part: string): string => `${name}[${at}][${part}]`;
  const type = one.variable_type ?? 'env_var';
  if (one.described !== undefined) {
    return html`${hidden(fieldName('key'), one.key)}${valueField(fieldName('value'), one)}`;
  }
  return html`<fieldset class="filter"><legend>Variable ${at + 1}</legend>
${hasTypes && select({ name: fieldName('variable_type'), label: 'Kind', value: type, options: types })}${input(
    {
      name: fieldName('key'),
      label: 'Name',
      value: one.key,
    },
  )}${textArea({ name: fieldName('value'), label: 'Value', value: one.value, rows: Math.max(1, one.value.split('\n').length) })}</fieldset>
`;
};

/** Renders the rows as hidden fields, for a confirmation page. */
export const hiddenRows = (name: string, rows: readonly Row[]): Html[] =>
  rows.flatMap(({ key, value }, at) => [
    hidden(`${name}[${at}][key]`, key),
    hidden(`${name}[${at}][value]`, value),
  ]);

/** @param options the API parameter that the rows form */
export const variableRows = (options: VariableRowsOptions, rows: readonly Row[]): Html =>
  html`${rows.map((one, at) => row(options, one, at))}`;
