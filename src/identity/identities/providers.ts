import type { Config } from '../../platform/config/fields.ts';
import type { Settings } from '../../core/settings/fields.ts';
import type { SignInProvider } from '../../platform/config/sign_in_providers.ts';

export const isEnabled = (
  { name }: { name: string },
  { disabled_oauth_sign_in_sources: disabled }: Settings,
): boolean => !disabled.includes(name);

/** Returns the providers that are enabled for sign-in, in the order of the configuration. */
export const enabledProviders = (config: Config, settings: Settings): SignInProvider[] =>
  config.sign_in_providers.filter((provider) => isEnabled(provider, settings));
