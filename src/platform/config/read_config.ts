/** Reads the configuration of the process from flags, variables and defaults. */
import { StartFailure } from '../errors.ts';
import { getS3Location } from './blobs.ts';
import { listUnknownVariables, readVariable } from './environment.ts';
import { type Config, type ConfigName, configNames, fields } from './fields.ts';
import type { Field } from './parse_values.ts';

export type Origin = 'flag' | 'environment' | 'file' | 'default';

export type Sourced = {
  config: Config;
  origin: { [N in ConfigName]: Origin };
  /** One line for each ignored variable. */
  warnings: string[];
};

/**
 * Reads the configuration.
 * @param flags text by setting name, from the command line
 * @throws StartFailure for an invalid value
 */
export const readConfig = (
  flags: { [N in ConfigName]?: string | undefined },
  environment: NodeJS.ProcessEnv,
): Sourced => {
  const config: Record<string, unknown> = {};
  const origin: Record<string, Origin> = {};
  for (const name of configNames) {
    const { value, from } = readSetting(fields[name], flags[name], environment);
    origin[name] = from;
    config[name] = value;
  }
  refuseOpenStorage(config as Config);
  requireSender(config as Config);
  getS3Location(config as Config);
  return { config, origin, warnings: listUnknownVariables(Object.values(fields), environment) } as Sourced;
};

type Setting = { value: unknown; from: Origin };

const readSetting = (
  field: Field<unknown>,
  flag: string | undefined,
  environment: NodeJS.ProcessEnv,
): Setting => {
  if (flag !== undefined) return { value: readText(field, field.flag ?? '', flag), from: 'flag' };
  const set = readVariable(field, environment);
  if (set !== null) return { value: readText(field, set.variable, set.text), from: set.origin };
  const { default: text, variable } = field;
  return { value: text === null ? null : readText(field, variable, text), from: 'default' };
};

/**
 * Parses the text of a setting.
 * @param name flag or variable that contains the text, for the error message
 */
const readText = (field: Field<unknown>, name: string, text: string): unknown => {
  try {
    return field.read(text);
  } catch (error) {
    const shown = field.secret === true ? '' : ` (it is "${text}")`;
    throw new StartFailure(`${name} ${(error as Error).message}${shown}`);
  }
};

const refuseOpenStorage = ({ repository_storages, gitd_secret }: Config): void => {
  const away = repository_storages.find(({ address }) => address !== null);
  if (away !== undefined && gitd_secret === null)
    throw new StartFailure(
      `GANTRY_GITD_SECRET is needed: the storage "${away.name}" of GANTRY_REPOSITORY_STORAGES is kept elsewhere`,
    );
};

const requireSender = ({ smtp_url, mail_from, confirm_addresses }: Config): void => {
  if (smtp_url !== null && mail_from === null)
    throw new StartFailure('GANTRY_MAIL_FROM is needed: GANTRY_SMTP_URL is set');
  if (smtp_url === null && confirm_addresses)
    throw new StartFailure('GANTRY_SMTP_URL is needed: GANTRY_CONFIRM_ADDRESSES is true');
};
