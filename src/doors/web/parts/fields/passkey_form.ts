/** The form that sends what a passkey signed. Browsers make and use passkeys by script only. */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { RawParams } from '../../../../platform/http/params.ts';
import { text } from '../../../../platform/http/schema.ts';
import { form, hidden } from '../form.ts';
import type { FormProblems } from '../form_problems.ts';
import { type Html, html } from '../html.ts';
import type { Visit } from '../../page.ts';

/** The answer of an authenticator, JSON. It is a few hundred bytes long, with certificates a few thousand. */
export const answerParam = { passkey: text({ maxLength: 20_000 }) };

/** Signed response of a passkey, as serialized by the browser; `identity/passkeys/` checks everything except the id. */
type Answer = RegistrationResponseJSON & AuthenticationResponseJSON;

/** Parses the response in the form; null if it is not an object with an id. */
export const readAnswer = ({ passkey }: RawParams): Answer | null => {
  try {
    const answer = JSON.parse(String(passkey)) as { id?: unknown } | null;
    return typeof answer?.id === 'string' ? (answer as Answer) : null;
  } catch {
    return null;
  }
};

type PasskeyForm = {
  action: string;
  submit: string;
  /** Action of the script when the form is sent. */
  kind: 'create' | 'get';
  /** Given to the browser. */
  options: object;
  isQuiet?: boolean;
  problems?: FormProblems;
};

export const passkeyForm = (
  visit: Visit,
  { kind, options, ...formOptions }: PasskeyForm,
  ...fields: (Html | null)[]
): Html =>
  html`<div hidden data-passkey="${kind}" data-options="${JSON.stringify(options)}">${form(
    visit,
    formOptions,
    ...fields,
    hidden('passkey', ''),
  )}</div>`;
