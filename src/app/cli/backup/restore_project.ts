import { openPlaceToRead } from '../../backup/open_place.ts';
import { findManifest } from '../../backup/places/backup_place.ts';
import { StartFailure } from '../../../platform/errors.ts';
import { readInstanceRecord } from '../../service/instance_record.ts';
import { makeLog } from '../../service/log.ts';
import { print } from '../print_result.ts';
import { spellCount } from '../../../platform/spell_count.ts';
import { readDataSettings } from '../data_owner.ts';
import { withStore } from '../with_store.ts';
import { type Options, getPlace, showParts } from './command_helpers.ts';
import { withScratch } from './scratch_folder.ts';

/** Restores one project into the instance, also while the service runs. */
export const restoreOneProject = async (source: string | undefined, options: Options): Promise<void> => {
  const { config } = readDataSettings(options);
  const [named, from] = [getPlace(source, config), String(options['project'])];
  const to = (options['as'] as string | undefined) ?? from;
  const { restoreProject } = await import('../../backup/project/restore_project.ts');
  const { end, ...progress } = showParts(options);
  try {
    const restored = await withScratch(
      config,
      async (scratch) =>
        await withStore(config, async (store) => {
          const { id: instance } = await readInstanceRecord(store);
          if (instance === null)
            throw new StartFailure('the instance has no id yet: start "gantry serve" once');
          const place = await openPlaceToRead(config, named, scratch);
          const manifest = await findManifest(place, options.backup);
          const log = makeLog({ ...config, log_level: 'silent' });
          const parts = { config, store, log, place, manifest, instance, from, to, scratch };
          return await restoreProject({ ...parts, ...progress });
        }),
    );
    end();
    const { id, full_path, unknown_users, with_variables } = restored;
    const lines = [
      `${from} is restored as ${full_path} (project ${id}).`,
      ...(unknown_users === 0
        ? []
        : [
            `${spellCount(unknown_users, 'user')} of the backup are not in this instance: the ghost user is the author of their content.`,
          ]),
      ...(with_variables
        ? []
        : [
            'warning: variables were left out, because the backup is of another instance, which encrypted them',
          ]),
    ];
    print(options, restored, lines.join('\n'));
  } finally {
    end();
  }
};
