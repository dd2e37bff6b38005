/** The settings of the process as options of commands. */
import type { Command } from 'commander';
import { type ConfigName, configNames, fields } from '../../platform/config/fields.ts';
import { type Sourced, readConfig } from '../../platform/config/read_config.ts';
import { StartFailure } from '../../platform/errors.ts';
import { UsageFailure } from './command_builders.ts';

type Flags = { [N in ConfigName]?: string };

/** Returns commander's property for a flag: `externalUrl` for `--external-url`. */
const optionKey = (flag: string): string =>
  flag.slice(2).replaceAll(/-([a-z])/g, (_whole, letter: string) => letter.toUpperCase());

const values: { [N in ConfigName]?: string } = {
  data: 'folder',
  listen: 'host:port',
  external_url: 'url',
  log_level: 'level',
};

/** Adds the flags of these settings to a command; by default, all flags. */
export const addSettings = (command: Command, names: readonly ConfigName[] = configNames): Command => {
  for (const name of names) {
    const { flag, meaning, variable, default: fallback } = fields[name];
    if (flag === undefined) continue;
    const origin = fallback === null ? variable : `${variable}, else ${fallback}`;
    command.option(`${flag} <${values[name] ?? 'value'}>`, `${meaning} (without it: ${origin})`);
  }
  return command;
};

/**
 * Reads the configuration of a command from its flags, the environment and the defaults. Writes warnings to standard
 * error.
 * @throws UsageFailure for an invalid value
 */
export const readSettings = (options: { readonly [option: string]: unknown }): Sourced => {
  const flags: Flags = {};
  for (const name of configNames) {
    const { flag } = fields[name];
    const flagValue = flag === undefined ? undefined : options[optionKey(flag)];
    if (typeof flagValue === 'string') flags[name] = flagValue;
  }
  try {
    const settings = readConfig(flags, process.env);
    for (const warning of settings.warnings) process.stderr.write(`gantry: warning: ${warning}\n`);
    return settings;
  } catch (error) {
    throw error instanceof StartFailure ? new UsageFailure(error.message) : error;
  }
};
