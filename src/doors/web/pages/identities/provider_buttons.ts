import { enabledProviders } from '../../../../identity/identities/providers.ts';
import { form, hidden } from '../../parts/form.ts';
import type { Html } from '../../parts/html.ts';
import type { Visit } from '../../page.ts';

/** Renders a button for each enabled sign-in provider. */
export const providerButtons = (visit: Visit, returnTo: string): Html[] => {
  const { platform, settings } = visit.call;
  return enabledProviders(platform.config, settings).map(({ name, label }) =>
    form(
      visit,
      { action: `/users/auth/${name}`, submit: `Sign in with ${label}` },
      returnTo === '/' ? null : hidden('return_to', returnTo),
    ),
  );
};
