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
import { checkbox, form, input, select, textArea } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import type { Html } from '../../parts/html.ts';
import type { Visit } from '../../page.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { fieldText, isTicked, textOrNull } from '../../parts/fields/field_text.ts';
import type { FormState } from '../../parts/fields/form_page.ts';
import { baseField, guardEdits } from '../../parts/fields/guard_edits.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';

const types = [
  ['env_var', 'Variable'],
  ['file', 'File: the variable is the path of a file with the value'],
] as const;

const editedFields = {
  value: optional(longText()),
  variable_type: oneOf(['env_var', 'file'], { default: 'env_var' }),
  environment_scope: optional(clearable(text())),
  description: optional(clearable(text())),
  protected: boolean({ default: false }),
  masked: boolean({ default: false }),
  raw: boolean({ default: false }),
};

export const updateFields = { ...editedFields, ...baseField };
export const createFields = {
  ...editedFields,
  key: optional(text()),
  masked_and_hidden: boolean({ default: false }),
};

type VariableValues = {
  key: string;
  value: string;
  variable_type: string;
  environment_scope: string;
  description: string;
  protected: boolean;
  masked: boolean;
  masked_and_hidden: boolean;
  raw: boolean;
};

export type VariableState = FormState<VariableValues>;

export const blank: VariableValues = {
  key: '',
  value: '',
  variable_type: 'env_var',
  environment_scope: '',
  description: '',
  protected: false,
  masked: false,
  masked_and_hidden: false,
  raw: false,
};

/** The value of a hidden variable is not shown. */
export const fromRecord = (variable: Variable): VariableValues => ({
  key: variable.key,
  value: variable.hidden === 1 ? '' : variable.value,
  variable_type: variable.variable_type,
  environment_scope: variable.environment_scope,
  description: variable.description ?? '',
  protected: variable.protected === 1,
  masked: variable.masked === 1,
  masked_and_hidden: variable.hidden === 1,
  raw: variable.raw === 1,
});

export const variableGuard = guardEdits({
  word: 'variable',
  fromRecord,
  labels: {
    value: 'Value',
    variable_type: 'Kind',
    environment_scope: 'Environments',
    description: 'Description',
    protected: 'Only for protected branches and tags',
    masked: 'Masked',
    raw: 'Raw',
  },
  options: () => ({ variable_type: types }),
  normalize: (typed, saved) => ({
    ...typed,
    environment_scope: textOrNull(typed.environment_scope) ?? '*',
    // The form shows neither of a hidden variable.
    ...(saved.masked_and_hidden && { value: saved.value, masked: saved.masked }),
  }),
});

export const fromSent = (sent: RawParams): VariableValues => ({
  key: fieldText(sent['key']),
  value: fieldText(sent['value']),
  variable_type: fieldText(sent['variable_type']),
  environment_scope: fieldText(sent['environment_scope']),
  description: fieldText(sent['description']),
  protected: isTicked(sent['protected']),
  masked: isTicked(sent['masked']),
  masked_and_hidden: isTicked(sent['masked_and_hidden']),
  raw: isTicked(sent['raw']),
});

const toFlag = (value: boolean): 0 | 1 => (value ? 1 : 0);

const shape = object(editedFields);

export const toEdit = (params: Static<typeof shape>): Required<VariableEdit> => ({
  value: params.value ?? '',
  variable_type: params.variable_type,
  environment_scope: textOrNull(params.environment_scope) ?? '*',
  description: textOrNull(params.description),
  protected: toFlag(params.protected),
  masked: toFlag(params.masked),
  raw: toFlag(params.raw),
});

const problemFields = ['key', 'value', 'environment_scope', 'description'];

export const toProblems = (problems: FormProblems): FormProblems =>
  moveUnknownToText(problems, problemFields);

type FormContext = { action: string; submit: string; before: Variable | null; base?: Html };

const traits = ({ before }: FormContext, { values }: VariableState): Html[] => [
  checkbox({ name: 'protected', label: 'Only for protected branches and tags', checked: values.protected }),
  ...(before?.hidden === 1
    ? []
    : [
        checkbox({
          name: 'masked',
          label: 'Masked: hidden in job logs',
          hint: 'The value must be one line of at least eight characters, without spaces.',
          checked: values.masked,
        }),
      ]),
  ...(before === null
    ? [
        checkbox({
          name: 'masked_and_hidden',
          label: 'Hidden: masked, and never shown again on this page',
          checked: values.masked_and_hidden,
        }),
      ]
    : []),
  checkbox({ name: 'raw', label: 'Raw: variables in the value are not expanded', checked: values.raw }),
];

/** @param context `before`: the edited variable; null: a new one */
export const variableForm = (visit: Visit, context: FormContext, state: VariableState): Html => {
  const { action, submit, before } = context;
  const { values, problems } = state;
  const isHidden = before?.hidden === 1;
  return form(
    visit,
    { action, submit, problems },
    before === null
      ? input({ name: 'key', label: 'Key', value: values.key, required: true, problems })
      : null,
    textArea({
      name: 'value',
      label: 'Value',
      value: values.value,
      problems,
      ...(isHidden && { hint: 'The value is hidden. Leave empty to keep it.' }),
    }),
    select({ name: 'variable_type', label: 'Kind', value: values.variable_type, options: types }),
    input({
      name: 'environment_scope',
      label: 'Environments',
      hint: 'A name, such as production, or a pattern, such as review/*. Default: all jobs.',
      value: values.environment_scope,
      problems,
    }),
    input({ name: 'description', label: 'Description', value: values.description, problems }),
    ...traits(context, state),
    context.base ?? null,
  );
};
