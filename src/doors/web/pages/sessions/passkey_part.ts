import { requestOptions } from '../../../../identity/passkeys/sign_in.ts';
import { hidden } from '../../parts/form.ts';
import type { Html } from '../../parts/html.ts';
import { passkeyForm } from '../../parts/fields/passkey_form.ts';
import type { Visit } from '../../page.ts';

export const signInPath = '/users/sign_in/passkey';

export const passkeyBrowserKey = (visit: Visit): string => visit.browserKey('passkey');

/** Renders the button that signs in with a passkey; null: browsers offer none at this address. */
export const passkeyPart = (visit: Visit, return_to: string): Html | null => {
  const { platform, baseUrl } = visit.call;
  const options = requestOptions(platform, baseUrl, passkeyBrowserKey(visit));
  if (options === null) return null;
  return passkeyForm(
    visit,
    { action: signInPath, submit: 'Sign in with a passkey', kind: 'get', options, isQuiet: true },
    return_to === '/' ? null : hidden('return_to', return_to),
  );
};
