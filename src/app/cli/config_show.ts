import type { Command } from 'commander';
import { type ConfigName, configNames, fields } from '../../platform/config/fields.ts';
import type { Sourced } from '../../platform/config/read_config.ts';
import { formatAddress, formatStorage } from '../../platform/config/parse_values.ts';
import { action } from './command_builders.ts';
import { columns, print } from './print_result.ts';
import { addSettings, readSettings } from './setting_options.ts';

type Options = { json?: boolean; origin?: boolean };

const hiddenText = '[hidden]';

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

const show = (options: Options & { [option: string]: unknown }): void => {
  const { config, origin } = readSettings(options);
  const settings = configNames.map((name) => {
    return {
      name,
      value: formatSetting(name, config),
      origin: origin[name],
      variable: fields[name].variable,
    };
  });
  const lines = settings.map((one) => {
    const cells = [one.name, one.value || '-'];
    return options.origin === true ? [...cells, one.origin, one.variable] : cells;
  });
  const value = settings.map((one) => [
    one.name,
    options.origin === true ? { value: one.value, origin: one.origin, variable: one.variable } : one.value,
  ]);
  print(options, Object.fromEntries(value), columns(lines));
};

export const configShowCommand = (): Command =>
  addSettings(
    action('show', {
      summary: 'Print every setting as the service would read it now; secrets are hidden.',
      examples: [
        'gantry config show --origin',
        'GANTRY_LISTEN=0.0.0.0:80 gantry config show --origin',
        'gantry config show --json --log-level debug',
      ],
    }).option('--origin', 'show where each value comes from: a flag, the environment or the default'),
  ).action(show);
