import { tokenScopes } from '../../../../../identity/tokens/rules.ts';
import type { RawParams } from '../../../../../platform/http/params.ts';
import { boolean, text, texts } from '../../../../../platform/http/schema.ts';
import { checkbox, checkboxes, input, textArea } from '../../../parts/form.ts';
import type { FormProblems } from '../../../parts/form_problems.ts';
import { isTicked, readList, readTexts } from '../../../parts/fields/field_text.ts';
import type { Html } from '../../../parts/html.ts';
import { scopeMeanings } from '../../tokens/scope_descriptions.ts';

export const applicationParams = {
  name: text({ maxLength: 2000 }),
  redirect_uri: text({ maxLength: 20_000 }),
  confidential: boolean({ default: false }),
  trusted: boolean({ default: false }),
  scopes: { ...texts(), default: [] as string[] },
};

export type FilledApplication = {
  name: string;
  redirect_uri: string;
  confidential: boolean;
  trusted: boolean;
  scopes: readonly string[];
};

export const blankApplication: FilledApplication = {
  name: '',
  redirect_uri: '',
  confidential: true,
  trusted: false,
  scopes: [],
};

export const fromSent = (sent: RawParams): FilledApplication => ({
  ...readTexts(sent, ['name', 'redirect_uri']),
  confidential: isTicked(sent['confidential']),
  trusted: isTicked(sent['trusted']),
  scopes: readList(sent['scopes']),
});

/** Renders the fields of an application of the instance. */
export const applicationFields = (filled: FilledApplication, problems: FormProblems): Html[] => [
  input({ name: 'name', label: 'Name', value: filled.name, required: true, problems }),
  textArea({
    name: 'redirect_uri',
    label: 'Callback URLs',
    hint: 'Users are redirected here after they authorize the application. One per line.',
    value: filled.redirect_uri,
    rows: 3,
    problems,
  }),
  checkbox({
    name: 'trusted',
    label: 'Trusted',
    hint: 'Users are not asked for their consent. Only for applications of your own.',
    checked: filled.trusted,
    problems,
  }),
  checkbox({
    name: 'confidential',
    label: 'Confidential',
    hint: 'For applications that can keep a secret: programs on a server, not on a phone or in a browser.',
    checked: filled.confidential,
    problems,
  }),
  checkboxes({
    name: 'scopes',
    label: 'Scopes',
    values: filled.scopes,
    boxes: tokenScopes.map((scope) => ({ value: scope, label: scope, hint: scopeMeanings[scope] })),
    problems,
  }),
];
