import type { Static } from 'typebox';
import { tokenScopes } from '../../../../../identity/tokens/rules.ts';
import { boolean, object, text, texts } from '../../../../../platform/http/schema.ts';
import { type FormProblems, checkbox, checkboxes, input, textArea } from '../../../parts/form.ts';
import type { Html } from '../../../parts/html.ts';
import { scopeMeanings } from '../../tokens/scope_descriptions.ts';

export const applicationParams = object({
  name: text({ maxLength: 2000 }),
  redirect_uri: text({ maxLength: 20_000 }),
  confidential: boolean({ default: false }),
  trusted: boolean({ default: false }),
  scopes: { ...texts(), default: [] as string[] },
});

type Filled = Static<typeof applicationParams>;

export const blankApplication: Filled = {
  name: '',
  redirect_uri: '',
  confidential: true,
  trusted: false,
  scopes: [],
};

/** Renders the fields of an application of the instance. */
export const applicationFields = (given: Filled, problems: FormProblems): Html[] => [
  input({ name: 'name', label: 'Name', value: given.name, required: true, problems }),
  textArea({
    name: 'redirect_uri',
    label: 'Callback URLs',
    hint: 'Users are redirected here after they authorize the application. One per line.',
    value: given.redirect_uri,
    rows: 3,
    problems,
  }),
  checkbox({
    name: 'trusted',
    label: 'Trusted',
    hint: 'Users are not asked for their consent. Only for applications of your own.',
    checked: given.trusted,
    problems,
  }),
  checkbox({
    name: 'confidential',
    label: 'Confidential',
    hint: 'For applications that can keep a secret: programs on a server, not on a phone or in a browser.',
    checked: given.confidential,
    problems,
  }),
  checkboxes({
    name: 'scopes',
    label: 'Scopes',
    values: given.scopes,
    boxes: tokenScopes.map((scope) => ({ value: scope, label: scope, hint: scopeMeanings[scope] })),
    problems,
  }),
];
