import type { Command } from 'commander';
import type { Config } from '../../../platform/config/fields.ts';
import { action } from '../command_builders.ts';
import { print } from '../print_result.ts';
import { checkBlobs } from './check_bucket.ts';
import { checkBackupPlace } from './check_backups.ts';
import type { Finding } from './finding.ts';
import { checkFolder, checkMachine, isClosed } from './check_machine.ts';
import { checkStore } from './check_database.ts';
import { addSettings, readSettings } from '../setting_options.ts';

type Options = { json?: boolean; thorough?: boolean; [option: string]: unknown };

const findAll = async (
  config: Config,
  { thorough = false, json: silent = false }: Options,
): Promise<Finding[]> => {
  const machine = checkMachine();
  const folder = [...checkFolder(config), ...checkBackupPlace(config)];
  if (isClosed(config.data)) return [...machine, ...folder];
  const bytes = await checkBlobs(config);
  const skipped = new Set(bytes.some(({ state }) => state === 'fail') ? ['blobs'] : []);
  return [...machine, ...folder, ...bytes, ...(await checkStore({ config, thorough, silent, skipped }))];
};

const line = ({ state, check, detail, advice }: Finding): string =>
  `${state.padEnd(4)}  ${check}: ${detail}${advice === undefined ? '' : `\n      ${advice}`}`;

const examine = async (options: Options): Promise<void> => {
  const { config } = readSettings(options);
  const findings = await findAll(config, options);
  const ok = findings.every(({ state }) => state !== 'fail');
  print(options, { ok, checks: findings }, findings.map(line).join('\n'));
  if (!ok) process.exitCode = 1;
};

export const doctorCommand = (): Command =>
  addSettings(
    action('doctor', {
      summary: 'Find problems and say how to fix them. Changes nothing; exit code 1 when something fails.',
      examples: ['gantry doctor --data /var/lib/gantry', 'gantry doctor --thorough --json'],
    }).option(
      '--thorough',
      'read everything: the database, every repository (git fsck), every artifact and upload; shows progress on standard error',
    ),
    ['data'],
  ).action(examine);
