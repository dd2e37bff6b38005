/** The form of a new SSH key: of the user's own, and of any user for administrators. */
import type { RawParams } from '../../../../platform/http/params.ts';
import { clearable, date, optional, text } from '../../../../platform/http/schema.ts';
import { readTexts } from '../../parts/fields/field_text.ts';
import { input, textArea } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';

/** Parameters that the form sends. */
export const newKeyParams = {
  title: optional(text({ maxLength: 2000 })),
  key: text({ maxLength: 5_000 }),
  expires_at: optional(clearable(date())),
};

export type KeyValues = { title?: string; key: string; expires_at?: string | null };

/** Returns the input of an invalid form, to show it again. */
export const fromSent = (sent: RawParams): KeyValues => readTexts(sent, ['title', 'key', 'expires_at']);

/** Renders the fields of a new key. */
export const keyInputs = ({ title = '', key, expires_at = null }: KeyValues, problems: FormProblems): Html =>
  html`${textArea({
    name: 'key',
    label: 'Key',
    hint: html`The public key, in one line: the content of <code>~/.ssh/id_ed25519.pub</code>, or the output of <code>ssh-add -L</code>.`,
    value: key,
    rows: 5,
    problems,
  })}${input({
    name: 'title',
    label: 'Title',
    hint: 'For example “laptop”. Default: the comment of the key.',
    value: title,
    problems,
  })}${input({
    name: 'expires_at',
    label: 'Expires',
    type: 'date',
    hint: 'The key expires at 00:00 UTC on this day. Default: it does not expire.',
    value: expires_at,
    problems,
  })}`;
