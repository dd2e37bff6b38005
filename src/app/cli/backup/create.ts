import type { Command } from 'commander';
import { createBackup } from '../../backup/create.ts';
import { StartFailure } from '../../../platform/errors.ts';
import { systemClock } from '../../../platform/time.ts';
import { readInstanceRecord } from '../../service/instance_record.ts';
import { action, print } from '../define_commands.ts';
import { addSettings, readSettings } from '../setting_options.ts';
import { withStore } from '../with_store.ts';
import { formatBytes } from '../../../platform/format_bytes.ts';
import { type Options, formatCounts, getPlace, showParts } from './command_helpers.ts';
import { verifyNamed } from './verify.ts';

const create = async (options: Options): Promise<void> => {
  const { config } = readSettings(options);
  const to = getPlace(options['to'] as string | undefined, config);
  const { end, ...progress } = showParts(options);
  const { manifest, added, warnings } = await withStore(config, async (store) => {
    const { id } = await readInstanceRecord(store);
    if (id === null) throw new StartFailure('the instance has no id yet: start "gantry serve" once');
    const withSecrets = options['secrets'] !== false;
    return await createBackup({
      config,
      store,
      instance: id,
      to,
      withSecrets,
      now: () => systemClock.now(),
      ...progress,
    });
  });
  end();
  if (options['verify'] === true) await verifyNamed(config, to, { ...options, backup: manifest.name });
  const { name, counts, problems } = manifest;
  const lines = [
    `${name}: ${formatCounts(counts).join(', ')}; ${formatBytes(added)} added to ${to}`,
    ...[...problems, ...warnings].map((problem) => `warning: ${problem}`),
  ];
  print(
    options,
    { name, to, added, verified: options['verify'] === true, counts, problems, warnings },
    lines.join('\n'),
  );
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
      .option('--verify', 'verify the backup afterwards')
      .option('--without-secrets', 'leave out the secrets, which you keep elsewhere'),
    ['data'],
  ).action(
    async (options: Options) => await create({ ...options, secrets: options['withoutSecrets'] !== true }),
  );
