/** The settings of the process as text, without secrets: for the command line and pages. */
import { type ConfigName, configNames, fields } from './fields.ts';
import { formatAddress, formatStorage } from './parse_values.ts';
import type { Origin, Sourced } from './read_config.ts';

const hiddenText = '[hidden]';

export type EffectiveSetting = {
  name: ConfigName;
  /** null: not set, and without a default. */
  value: string | null;
  origin: Origin;
  variable: string;
  meaning: string;
};

/** Formats a setting as written on the command line or in a variable. */
const formatSetting = (name: ConfigName, config: Sourced['config']): string | null => {
  if (config[name] === null) return null;
  if (fields[name].secret === true) return hiddenText;
  switch (name) {
    case 'listen':
      return formatAddress(config.listen);
    case 'ssh_listen':
    case 'ssh_external': {
      const address = config[name];
      return address === null ? null : formatAddress(address);
    }
    case 'repository_storages':
      return config.repository_storages.map(formatStorage).join(',');
    case 'trusted_proxies':
    case 'monitoring_allow':
      return config[name].join(',');
    case 'sign_in_providers':
    case 'trace_headers':
      return hiddenText;
    default:
      return String(config[name]);
  }
};

/** Lists every setting with its value and source. Secrets that are set are hidden. */
export const listEffectiveSettings = ({ config, origin }: Omit<Sourced, 'warnings'>): EffectiveSetting[] =>
  configNames.map((name) => ({
    name,
    value: formatSetting(name, config),
    origin: origin[name],
    variable: fields[name].variable,
    meaning: fields[name].meaning,
  }));
