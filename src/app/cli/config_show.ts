import type { Command } from 'commander';
import { type EffectiveSetting, listEffectiveSettings } from '../../platform/config/effective_settings.ts';
import { action } from './command_builders.ts';
import { columns, print } from './print_result.ts';
import { addSettings, readSettings } from './setting_options.ts';

type Options = { json?: boolean; origin?: boolean; meaning?: boolean };

/** Returns what the options show of a setting in addition to its value. */
const selectDetails = (
  { origin, variable, meaning }: EffectiveSetting,
  options: Options,
): Record<string, string> => ({
  ...(options.origin === true ? { origin } : {}),
  ...(options.origin === true || options.meaning === true ? { variable } : {}),
  ...(options.meaning === true ? { meaning } : {}),
});

const show = (options: Options & { [option: string]: unknown }): void => {
  const settings = listEffectiveSettings(readSettings(options)).map((setting) => ({
    ...setting,
    details: selectDetails(setting, options),
  }));
  const lines = settings.map(({ name, value, details }) => [name, value || '-', ...Object.values(details)]);
  const isDetailed = options.origin === true || options.meaning === true;
  const value = settings.map((one) => [
    one.name,
    isDetailed ? { value: one.value, ...one.details } : one.value,
  ]);
  print(options, Object.fromEntries(value), columns(lines));
};

export const configShowCommand = (): Command =>
  addSettings(
    action('show', {
      summary: 'Print every setting as the service would read it now; secrets are hidden.',
      examples: [
        'gantry config show --origin',
        'gantry config show --meaning | grep BACKUP',
        'GANTRY_LISTEN=0.0.0.0:80 gantry config show --origin',
        'gantry config show --json --log-level debug',
      ],
    })
      .option('--origin', 'show where each value comes from: a flag, the environment or the default')
      .option('--meaning', 'show the variable and the meaning of each setting'),
  ).action(show);
