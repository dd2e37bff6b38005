/** Settings of backups: when they are made and verified, where they go, and how many are kept. */
import { resolve } from 'node:path';
import { type Field, readCount, readMatching, readUrl, readYes } from './parse_values.ts';

export const backupVerifications = ['always', 'weekly', 'never'] as const;
export type BackupVerification = (typeof backupVerifications)[number];

export type BackupConfig = {
  /** Folder, FILE.tar.zst or s3://BUCKET/PREFIX; null: none is configured. */
  backup_to: string | null;
  /** Cron pattern in UTC; null: backups are made by hand. */
  backup_schedule: string | null;
  /** Number of backups that are kept in a folder or a bucket. */
  backup_keep: number;
  /** When a scheduled backup is verified. */
  backup_verify: BackupVerification;
  /** Folder for temporary copies of backups; null: the data folder. */
  backup_scratch: string | null;
  /** Whether the database is copied to the data folder before it is migrated. */
  upgrade_copy: boolean;
  /** Whether nothing reaches other systems: a restored copy next to the original. */
  quiet: boolean;
  backup_s3_endpoint: string | null;
  backup_s3_region: string;
  backup_s3_access_key: string | null;
  backup_s3_secret_key: string | null;
};

const readKey = readMatching(/^[\x21-\x7e]{1,255}$/, '1 to 255 printable characters');

export const backupFields: { [N in keyof BackupConfig]: Field<BackupConfig[N]> } = {
  backup_to: {
    variable: 'GANTRY_BACKUP_TO',
    default: null,
    meaning: 'where backups go: a folder or s3://BUCKET/PREFIX',
    read: readMatching(/^.{1,1000}$/, 'a folder or s3://BUCKET/PREFIX'),
  },
  backup_schedule: {
    variable: 'GANTRY_BACKUP_SCHEDULE',
    default: null,
    meaning: 'when the service makes a backup: a cron pattern in UTC such as "30 2 * * *"; default: never',
    read: readMatching(/^(?:@[a-z]+|\S+(?: \S+){4})$/, 'a cron pattern of five fields, such as "30 2 * * *"'),
  },
  backup_keep: {
    variable: 'GANTRY_BACKUP_KEEP',
    default: '14',
    meaning: 'number of backups to keep; the oldest are removed after each new backup',
    read: readCount,
  },
  backup_verify: {
    variable: 'GANTRY_BACKUP_VERIFY',
    default: 'always',
    meaning:
      'which scheduled backups are restored to a scratch folder and checked: always; weekly, when the last verification was a week ago; or never',
    read: (text) => {
      const verification = backupVerifications.find((one) => one === text);
      if (verification === undefined) throw new Error(`must be one of ${backupVerifications.join(', ')}`);
      return verification;
    },
  },
  backup_scratch: {
    variable: 'GANTRY_BACKUP_SCRATCH',
    default: null,
    meaning:
      'folder in which backups copy the database and are restored to be verified, for a time; without it, the data folder',
    read: (text) => resolve(text),
  },
  upgrade_copy: {
    variable: 'GANTRY_UPGRADE_COPY',
    default: 'true',
    meaning:
      'true: before the database is migrated, it is copied to before_upgrade in the data folder; or false',
    read: readYes,
  },
  quiet: {
    variable: 'GANTRY_QUIET',
    default: 'false',
    meaning:
      'true: sends no mail and no webhooks, runs no schedules, no imports and no built-in runner, and makes no backups, for a copy next to the original; or false',
    read: readYes,
  },
  backup_s3_endpoint: {
    variable: 'GANTRY_BACKUP_S3_ENDPOINT',
    default: null,
    meaning: 'URL of the S3-compatible store of backups; default: GANTRY_BLOB_S3_ENDPOINT',
    read: readUrl(['http:', 'https:']),
  },
  backup_s3_region: {
    variable: 'GANTRY_BACKUP_S3_REGION',
    default: 'us-east-1',
    meaning: 'region of that store, part of each signature',
    read: readMatching(/^[A-Za-z0-9-]{1,63}$/, 'a name of letters, digits and -'),
  },
  backup_s3_access_key: {
    variable: 'GANTRY_BACKUP_S3_ACCESS_KEY',
    default: null,
    meaning: 'access key id for that store; default: GANTRY_BLOB_S3_ACCESS_KEY',
    secret: true,
    read: readKey,
  },
  backup_s3_secret_key: {
    variable: 'GANTRY_BACKUP_S3_SECRET_KEY',
    default: null,
    meaning: 'secret access key for that store; default: GANTRY_BLOB_S3_SECRET_KEY',
    secret: true,
    read: readKey,
  },
};
