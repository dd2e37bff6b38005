/** The settings of `config.ts` as options of commands. */
import type { Command } from 'commander';
import { type ConfigName, type Sourced, configNames, fields, readConfig } from '../config.ts';
import { StartFailure } from '../errors.ts';
import { UsageFailure } from './command.ts';

type Flags = { [N in ConfigName]?: string };

/** What commander made of `--external-url`: `externalUrl`. */
const optionKey = (flag: string): string =>
  flag.slice(2).replaceAll(/-([a-z])/g, (_whole, letter: string) => letter.toUpperCase());

const values: { [N in ConfigName]?: string } = {
  data: 'folder',
  listen: 'host:port',
  external_url: 'url',
  log_level: 'level',
};

/** Adds the flags of these settings; without names, of all that have one. */
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
 * The configuration of a command: its flags, then the environment, then the defaults. Warnings go to standard error.
 * @throws UsageFailure for a value that cannot be read
 */
export const readSettings = (options: { readonly [option: string]: unknown }): Sourced => {
  const flags: Flags = {};
  for (const name of configNames) {
    const { flag } = fields[name];
    const given = flag === undefined ? undefined : options[optionKey(flag)];
    if (typeof given === 'string') flags[name] = given;
  }
  try {
    const settings = readConfig(flags, process.env);
    for (const warning of settings.warnings) process.stderr.write(`gantry: warning: ${warning}\n`);
    return settings;
  } catch (error) {
    throw error instanceof StartFailure ? new UsageFailure(error.message) : error;
  }
};
