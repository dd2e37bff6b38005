/** Form of a CI variable. */
import type { Static } from 'typebox';
import {
  boolean,
  clearable,
  longText,
  object,
  oneOf,
  optional,
  text,
} from '../../../../platform/http/schema.ts';
import type { VariableEdit } from '../../../../ci/variables/change.ts';
import type { Variable } from '../../../../ci/variables/rules.ts';
import { type FormProblems, checkbox, form, input, noProblems, select, textArea } from '../../parts/form.ts';
import type { Html } from '../../parts/html.ts';
import type { Visit } from '../../page.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { fieldText, isTicked } from '../../parts/fields/field_text.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';

const types = [
  ['env_var', 'Variable'],
  ['file', 'File: the variable is the path of a file with the value'],
] as const;

const edits = {
  value: optional(longText()),
  variable_type: oneOf(['env_var', 'file'], { default: 'env_var' }),
  environment_scope: optional(clearable(text())),
  description: optional(clearable(text())),
  protected: boolean({ default: false }),
  masked: boolean({ default: false }),
  raw: boolean({ default: false }),
};

export const editedParams = edits;
export const filledParams = {
  ...edits,
  key: optional(text()),
  masked_and_hidden: boolean({ default: false }),
};

const shape = object(filledParams);
export type Filled = Static<typeof shape>;
export type Edited = Omit<Filled, 'key' | 'masked_and_hidden'>;

export const blank: Filled = {
  variable_type: 'env_var',
  protected: false,
  masked: false,
  masked_and_hidden: false,
  raw: false,
};

/** Returns the values of a form as they were sent, valid or not. */
export const fromSent = (sent: RawParams): Filled => ({
  key: fieldText(sent['key']),
  value: fieldText(sent['value']),
  variable_type: sent['variable_type'] === 'file' ? 'file' : 'env_var',
  environment_scope: fieldText(sent['environment_scope']),
  description: fieldText(sent['description']),
  protected: isTicked(sent['protected']),
  masked: isTicked(sent['masked']),
  masked_and_hidden: isTicked(sent['masked_and_hidden']),
  raw: isTicked(sent['raw']),
});

/** Fills the form; the value of a hidden variable is not shown. */
export const filledOf = (variable: Variable): Filled => ({
  key: variable.key,
  value: variable.hidden === 1 ? '' : variable.value,
  variable_type: variable.variable_type,
  environment_scope: variable.environment_scope,
  description: variable.description,
  protected: variable.protected === 1,
  masked: variable.masked === 1,
  masked_and_hidden: variable.hidden === 1,
  raw: variable.raw === 1,
});

const flag = (value: boolean): 0 | 1 => (value ? 1 : 0);

const textOrNull = (value: string | null | undefined): string | null =>
  value === undefined || value === null || value.trim() === '' ? null : value.trim();

/** Browsers submit line ends as CRLF. */
const valueOf = ({ value = '' }: Edited): string => value.replaceAll('\r\n', '\n');

export const editOf = (given: Edited): Required<VariableEdit> => ({
  value: valueOf(given),
  variable_type: given.variable_type,
  environment_scope: textOrNull(given.environment_scope) ?? '*',
  description: textOrNull(given.description),
  protected: flag(given.protected),
  masked: flag(given.masked),
  raw: flag(given.raw),
});

export type Tried = { given: Filled; problems: FormProblems };

export const untried = (given: Filled): Tried => ({ given, problems: noProblems });

const names = ['key', 'value', 'environment_scope', 'description'];

export const variableProblems = (problems: FormProblems): FormProblems => moveUnknownToText(problems, names);

type FormContext = { action: string; submit: string; before: Variable | null };

const traits = ({ before }: FormContext, { given }: Tried): Html[] => [
  checkbox({ name: 'protected', label: 'Only for protected branches and tags', checked: given.protected }),
  ...(before?.hidden === 1
    ? []
    : [
        checkbox({
          name: 'masked',
          label: 'Masked: hidden in job logs',
          hint: 'The value must be one line of at least eight characters, without spaces.',
          checked: given.masked,
        }),
      ]),
  ...(before === null
    ? [
        checkbox({
          name: 'masked_and_hidden',
          label: 'Hidden: masked, and never shown again on this page',
          checked: given.masked_and_hidden,
        }),
      ]
    : []),
  checkbox({ name: 'raw', label: 'Raw: variables in the value are not expanded', checked: given.raw }),
];

/** @param context `before`: the edited variable; null: a new one */
export const variableForm = (visit: Visit, context: FormContext, tried: Tried): Html => {
  const { action, submit, before } = context;
  const { given, problems } = tried;
  const isHidden = before?.hidden === 1;
  return form(
    visit,
    { action, submit, problems },
    before === null
      ? input({ name: 'key', label: 'Key', value: given.key ?? '', required: true, problems })
      : null,
    textArea({
      name: 'value',
      label: 'Value',
      value: given.value ?? '',
      problems,
      ...(isHidden && { hint: 'The value is hidden. Leave empty to keep it.' }),
    }),
    select({ name: 'variable_type', label: 'Kind', value: given.variable_type, options: types }),
    input({
      name: 'environment_scope',
      label: 'Environments',
      hint: 'A name, such as production, or a pattern, such as review/*. Default: all jobs.',
      value: given.environment_scope ?? '',
      problems,
    }),
    input({ name: 'description', label: 'Description', value: given.description ?? '', problems }),
    ...traits(context, tried),
  );
};
