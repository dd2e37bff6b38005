/** Checks programs, the data folder and the disk. */
import { spawnSync } from 'node:child_process';
import {
  type Stats,
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  statSync,
  statfsSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../../platform/config/fields.ts';
import { oldestSqlite } from '../../../platform/db/sqlite/engine.ts';
import { type FolderOwner, readOwner } from '../../service/data_folder.ts';
import { readSecrets, secretsPath } from '../../service/secrets.ts';
import { passwordFile } from '../../service/first_start.ts';
import { describeOwnerCommand } from '../data_owner.ts';
import { type Finding, fail, isAtLeast, ok, warn } from './finding.ts';

const oldestNode = '26';
const oldestGit = '2.39';
const gigabyte = 1024 ** 3;
const leastFree = gigabyte / 10;

const checkVersion = (check: string, version: string, least: string, advice: string): Finding =>
  isAtLeast(version, least) ? ok(check, version) : fail(check, `${version} is older than ${least}`, advice);

const checkGit = (): Finding => {
  const { stdout, error } = spawnSync('git', ['--version'], { encoding: 'utf8' });
  const version = /\d+(?:\.\d+)+/.exec(stdout ?? '')?.[0];
  if (error !== undefined || version === undefined) {
    return fail('git', 'git is not in the PATH', `install git ${oldestGit} or newer`);
  }
  return checkVersion('git', version, oldestGit, `install git ${oldestGit} or newer`);
};

export const checkMachine = (): Finding[] => [
  checkVersion(
    'node',
    process.versions.node,
    oldestNode,
    'start with "npm start", which brings its own Node',
  ),
  checkVersion(
    'sqlite',
    process.versions.sqlite ?? '0',
    oldestSqlite,
    'use the Node of this package: it carries a newer SQLite',
  ),
  checkGit(),
];

const getErrorCode = (error: unknown): string => String((error as NodeJS.ErrnoException).code);

const shownMode = ({ mode }: Stats): string => `0${(mode & 0o777).toString(8)}`;

const checkMode = (check: string, path: string, stats: Stats, requiredMode: string): Finding => {
  const isPrivate = (stats.mode & 0o077) === 0;
  if (isPrivate) return ok(check, `${path}, mode ${shownMode(stats)}`);
  return fail(
    check,
    `${path} is open to others (mode ${shownMode(stats)})`,
    `run: chmod ${requiredMode} ${path}`,
  );
};

/** Beginnings of the names that Gantry creates in a data folder. A volume has others, such as `lost+found`. */
const ownNames = [
  'backup_work',
  'before_upgrade',
  'blobs',
  'copy_blobs',
  'gantry',
  'gitd',
  passwordFile,
  'lock',
  'process_name',
  'repositories',
  'restoring',
  'runner',
  'secrets.json',
  'ssh_host_ed25519_key',
  'traces',
];

/** Finds an entry of Gantry that belongs to another user; null: there is none. */
const findForeign = (folder: string, uid: number): string | null => {
  const isForeign = (name: string): boolean => {
    const stats = lstatSync(join(folder, name), { throwIfNoEntry: false }); // it may be gone by now
    return stats !== undefined && stats.uid !== uid;
  };
  const isOwn = (name: string): boolean => ownNames.some((own) => name.startsWith(own));
  return readdirSync(folder).find((name) => isOwn(name) && isForeign(name)) ?? null;
};

/** Checks that this process runs as the user of the data folder, and that everything there belongs to that user. */
const checkOwner = (folder: string, { uid, gid }: FolderOwner): Finding => {
  const own = process.getuid?.() ?? uid;
  const foreign = own === uid || own === 0 ? findForeign(folder, uid) : null;
  if (foreign !== null) {
    return fail(
      'owner',
      `${join(folder, foreign)} does not belong to user id ${uid}, as the data folder does`,
      `run: chown -R ${uid}:${gid} ${folder}`,
    );
  }
  if (own === uid) return ok('owner', `user id ${uid}`);
  return fail(
    'owner',
    `${folder} belongs to user id ${uid}, and this process runs as ${own}`,
    own === 0
      ? describeOwnerCommand({ uid, gid }, 'doctor')
      : 'run gantry as its owner, or give the folder to this user with chown',
  );
};

/** Checks that the folder can be written. A read-only mount, as after a disk fault, refuses even its owner. */
const checkWritable = (folder: string): Finding[] => {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return [];
  } catch (error) {
    const advice = 'mount it for writing, or give its owner the right to write';
    return [fail('writable', `${folder} cannot be written to (${getErrorCode(error)})`, advice)];
  }
};

const checkSecrets = (config: Config): Finding => {
  const file = secretsPath(config);
  if (!existsSync(file)) {
    return fail('secrets', `${file} is missing`, 'restore it from the backup of the data folder');
  }
  try {
    readSecrets(file);
  } catch (error) {
    return fail(
      'secrets',
      (error as Error).message,
      'restore it from a backup; encrypted data cannot be read without it',
    );
  }
  return checkMode('secrets', file, statSync(file), '600');
};

const inGigabytes = (bytes: number): string => `${(bytes / gigabyte).toFixed(1)} GiB free`;

const checkSpace = (folder: string): Finding => {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const advice = 'free disk space: on a full disk all writes fail';
  if (free < leastFree) return fail('disk', inGigabytes(free), advice);
  return free < gigabyte ? warn('disk', inGigabytes(free), advice) : ok('disk', inGigabytes(free));
};

const checkPasswordFile = (folder: string): Finding[] => {
  const file = join(folder, passwordFile);
  if (!existsSync(file)) return [];
  return [
    warn(
      'root password',
      `${file} still holds the initial password`,
      'save or change the password, then delete the file',
    ),
  ];
};

/** Returns whether this user may not look into the data folder, so that only the folder itself can be checked. */
export const isClosed = (folder: string): boolean => {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
};

export const checkFolder = (config: Config): Finding[] => {
  const { data } = config;
  const stats = statSync(data, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) {
    return [
      fail(
        'data folder',
        `${data} does not exist`,
        'name it with --data, or start "gantry serve" to create it',
      ),
    ];
  }
  return [
    checkMode('data folder', data, stats, '700'),
    checkOwner(data, readOwner(data) ?? stats),
    ...checkWritable(data),
    ...(isClosed(data) ? [] : [checkSecrets(config), checkSpace(data), ...checkPasswordFile(data)]),
  ];
};
