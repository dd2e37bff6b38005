import type { Config } from '../config.ts';
import type { Settings } from '../settings/fields.ts';
import type { SignInProvider } from '../sign_in_providers.ts';

export const isEnabled = (
  { name }: { name: string },
  { disabled_oauth_sign_in_sources: disabled }: Settings,
): boolean => !disabled.includes(name);

/** Those by which one may sign in at the moment, in the order of the configuration. */
export const enabledProviders = (config: Config, settings: Settings): SignInProvider[] =>
  config.sign_in_providers.filter((provider) => isEnabled(provider, settings));
