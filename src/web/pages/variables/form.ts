/** What may be said of a variable of CI jobs, as a form. */
import type { Static } from 'typebox';
import { boolean, clearable, longText, object, oneOf, optional, text } from '../../../http/schema.ts';
import type { VariableEdit } from '../../../variables/change.ts';
import type { Variable } from '../../../variables/rules.ts';
import { type FormProblems, checkbox, form, input, noProblems, select, textArea } from '../../form.ts';
import type { Html } from '../../html.ts';
import type { Visit } from '../../page.ts';
import type { RawParams } from '../../../http/params.ts';
import { placedOn } from '../ci/problems.ts';

const types = [
  ['env_var', 'Variable'],
  ['file', 'File: jobs get the path of one that holds the value'],
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

const textIn = (raw: unknown): string => (typeof raw === 'string' ? raw : '');

/** What can be shown again of a form that could not be read. */
export const asTyped = ({ key, value, environment_scope, description }: RawParams): Filled => ({
  ...blank,
  key: textIn(key),
  value: textIn(value),
  environment_scope: textIn(environment_scope),
  description: textIn(description),
});

/** Of a hidden one the value is shown to nobody. */
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

/** Browsers end lines in their own way. */
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

export const variableProblems = (problems: FormProblems): FormProblems => placedOn(problems, names);

type Of = { action: string; submit: string; before: Variable | null };

const traits = ({ before }: Of, { given }: Tried): Html[] => [
  checkbox({ name: 'protected', label: 'Only for protected branches and tags', checked: given.protected }),
  ...(before?.hidden === 1
    ? []
    : [
        checkbox({
          name: 'masked',
          label: 'Masked: not to be read in logs',
          hint: 'The value is one line of eight characters at least, without blanks.',
          checked: given.masked,
        }),
      ]),
  ...(before === null
    ? [
        checkbox({
          name: 'masked_and_hidden',
          label: 'Masked, and never shown again: not here, and not to you',
          checked: given.masked_and_hidden,
        }),
      ]
    : []),
  checkbox({ name: 'raw', label: 'Taken as it is: a $ in it is nothing special', checked: given.raw }),
];

/** @param of `before`: the one that is edited; null: it is made */
export const variableForm = (visit: Visit, of: Of, tried: Tried): Html => {
  const { action, submit, before } = of;
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
      ...(isHidden && { hint: 'It is hidden. Left empty, it stays as it is.' }),
    }),
    select({ name: 'variable_type', label: 'Kind', value: given.variable_type, options: types }),
    input({
      name: 'environment_scope',
      label: 'Environments',
      hint: 'The ones that it is for: a name, such as production, or with a star, such as review/*. Left empty: all jobs.',
      value: given.environment_scope ?? '',
      problems,
    }),
    input({ name: 'description', label: 'Description', value: given.description ?? '', problems }),
    ...traits(of, tried),
  );
};
