/** Decides where hooks may send requests. */
import type { Platform } from '../../core/platform.ts';
import type { Settings } from '../../core/settings/fields.ts';
import { getOutgoingRules } from '../../core/settings/setting_effects.ts';
import { getPort } from '../../platform/addresses/allowed_addresses.ts';
import type { AddressRules } from '../../platform/addresses/checked_request.ts';

/** Returns the rules for hooks: those of the settings, and the host and port of the external URL, as in GitLab. */
export const getHookRules = (
  { external_url }: Pick<Platform['config'], 'external_url'>,
  settings: Settings,
): AddressRules => {
  const rules = getOutgoingRules(settings);
  if (external_url === null) return rules;
  const url = new URL(external_url);
  return { ...rules, allowedHosts: [...rules.allowedHosts, `${url.hostname}:${getPort(url)}`] };
};
