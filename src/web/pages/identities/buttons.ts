import { enabledProviders } from '../../../identities/providers.ts';
import { form, hidden } from '../../form.ts';
import type { Html } from '../../html.ts';
import type { Visit } from '../../page.ts';

/** A button for each provider by which one may sign in at the moment. */
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
