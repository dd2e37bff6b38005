/**
 * Refuses commands that root runs on the data folder of another user: root may do everything there, and what it writes
 * is then unusable for the service.
 */
import type { Sourced } from '../../platform/config/read_config.ts';
import { type FolderOwner, isInUse, readOwner } from '../service/data_folder.ts';
import { UsageFailure } from './command_builders.ts';
import { readSettings } from './setting_options.ts';

const quote = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", String.raw`'\''`)}'`;

/** Returns the command line of this process without passwords of URLs. */
const describeCommand = (): string =>
  process.argv
    .slice(2)
    .map((argument) => quote(argument.replace(/:\/\/[^@/\s]*@/, '://USER:PASSWORD@')))
    .join(' ');

/** Says how root runs a command of Gantry as another user. */
export const describeOwnerCommand = ({ uid, gid }: FolderOwner, command: string): string =>
  `in a container, start the command with --user ${uid}:${gid} of docker; elsewhere, run: setpriv --reuid=${uid} --regid=${gid} --clear-groups gantry ${command}`;

/**
 * Refuses root where the folder belongs to another user.
 * @param isFirstUse whether root may use an empty folder: the first start of a container that runs as root
 * @param lockFile name of the folder's lock file, if it is not a data folder
 * @throws UsageFailure with the command that works
 */
export const requireOwner = (folder: string, isFirstUse: boolean, lockFile?: string): void => {
  const owner = process.getuid?.() === 0 ? readOwner(folder, lockFile) : null;
  if (owner === null || owner.uid === 0 || (isFirstUse && !isInUse(folder))) return;
  throw new UsageFailure(
    `${folder} belongs to user id ${owner.uid}, and files that root writes there stop the service; with the same settings, ${describeOwnerCommand(owner, describeCommand())}`,
  );
};

/**
 * Reads the configuration of a command that uses the data folder.
 * @throws UsageFailure for an invalid value, and for root where the folder belongs to another user
 */
export const readDataSettings = (
  options: { readonly [option: string]: unknown },
  isFirstUse = true,
): Sourced => {
  const settings = readSettings(options);
  requireOwner(settings.config.data, isFirstUse);
  return settings;
};
