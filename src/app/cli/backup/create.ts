import type { Command } from 'commander';
import { type Made, createBackup } from '../../backup/create.ts';
import { formatBytes } from '../../../platform/format_bytes.ts';
import { loadLastBackups } from '../../../doors/instance/health/last_backups.ts';
import { type BackupVerification, backupVerifications } from '../../../platform/config/backups.ts';
import type { Store } from '../../../platform/db/open.ts';
import { StartFailure } from '../../../platform/errors.ts';
import { dayMilliseconds, systemClock } from '../../../platform/time.ts';
import { readInstanceRecord } from '../../service/instance_record.ts';
import { UsageFailure, action } from '../command_builders.ts';
import { print } from '../print_result.ts';
import { readDataSettings } from '../data_owner.ts';
import { addSettings } from '../setting_options.ts';
import { withStore } from '../with_store.ts';
import { type Options, formatCounts, getPlace, showParts } from './command_helpers.ts';
import { withScratch } from './scratch_folder.ts';
import { verifyNamed } from './verify.ts';

type When = BackupVerification;

/** Reads `--verify [when]`. @throws UsageFailure */
const readWhen = ({ verify = 'never' }: Options): When => {
  if (verify === true) return 'always';
  const when = backupVerifications.find((one) => one === verify);
  if (when === undefined) throw new UsageFailure(`--verify takes ${backupVerifications.join(', ')}`);
  return when;
};

/** Milliseconds after which a weekly verification is due. Less than a week: the time of a backup varies. */
const verificationAge = 6.5 * dayMilliseconds;

/** Returns whether a new backup is to be verified: weekly, also after one that failed. */
const isVerificationDue = async ({ db }: Store, when: When): Promise<boolean> => {
  if (when !== 'weekly') return when === 'always';
  const now = systemClock.now();
  const { verified_at, error } = await loadLastBackups(db, now);
  return verified_at === null || error !== null || now - verified_at > verificationAge;
};

type Created = Made & { isVerified: boolean };

/** Runs the verification of the new backup. @returns its error; null: none */
const catchError = async (verification: () => Promise<unknown>): Promise<Error | null> => {
  try {
    await verification();
    return null;
  } catch (error) {
    return error as Error;
  }
};

const create = async (options: Options): Promise<void> => {
  const { config } = readDataSettings(options);
  const to = getPlace(options['to'] as string | undefined, config);
  const { end, ...progress } = showParts(options);
  const make = async (store: Store, scratch: string): Promise<Created> => {
    const { id } = await readInstanceRecord(store);
    if (id === null) throw new StartFailure('the instance has no id yet: start "gantry serve" once');
    const isVerified = await isVerificationDue(store, readWhen(options));
    const withSecrets = options['secrets'] !== false;
    const parts = { config, store, instance: id, to, withSecrets, scratch, now: () => systemClock.now() };
    return { ...(await createBackup({ ...parts, ...progress })), isVerified };
  };
  const { manifest, added, warnings, isVerified } = await withScratch(
    config,
    async (scratch) => await withStore(config, async (store) => await make(store, scratch)),
  );
  end();
  const { name, counts, problems } = manifest;
  const verify = async () => await verifyNamed(config, to, { ...options, backup: name });
  const failure = isVerified ? await catchError(verify) : null;
  const lines = [
    `${name}: ${formatCounts(counts).join(', ')}; ${formatBytes(added)} added to ${to}`,
    ...[...problems, ...warnings].map((problem) => `warning: ${problem}`),
  ];
  const outcome = { verified: isVerified && failure === null, verification_error: failure?.message ?? null };
  print(options, { name, to, added, ...outcome, counts, problems, warnings }, lines.join('\n'));
  if (failure instanceof StartFailure)
    throw new StartFailure(`the backup was made, but its verification failed: ${failure.message}`);
  if (failure !== null) throw failure;
};

export const createCommand = (): Command =>
  addSettings(
    action('create', {
      summary:
        'Create a backup of everything at one point in time, while the service runs. A folder or a bucket can contain several backups; only new data is added.',
      examples: [
        'gantry backup create --to /srv/backups --verify',
        'gantry backup create --to gantry.tar.zst',
        'gantry backup create --to s3://backups/gantry --without-secrets',
      ],
    })
      .option('--to <place>', 'a folder, FILE.tar.zst or s3://BUCKET/PREFIX (without it: GANTRY_BACKUP_TO)')
      .option(
        '--verify [when]',
        'verify the backup afterwards: always (without a word), weekly (if the last verification was a week ago) or never',
      )
      .option('--without-secrets', 'leave out the secrets, which you keep elsewhere'),
    ['data'],
  ).action(
    async (options: Options) => await create({ ...options, secrets: options['withoutSecrets'] !== true }),
  );
