/** Options and progress that the commands of backups share. */
import type { Config } from '../../../platform/config/fields.ts';
import type { PartProgress } from '../../backup/backup_records.ts';
import type { Manifest } from '../../backup/manifest.ts';
import { UsageFailure } from '../command_builders.ts';
import { spellCount } from '../../../platform/spell_count.ts';
import { type Progress, showProgress, silentProgress } from '../progress.ts';

export type Options = { json?: boolean; backup?: string; [option: string]: unknown };

/** Returns the location that the command names, or GANTRY_BACKUP_TO. @throws UsageFailure */
export const getPlace = (named: string | undefined, { backup_to }: Config): string => {
  const place = named ?? backup_to;
  if (place === null) throw new UsageFailure('name the place of backups, or set GANTRY_BACKUP_TO');
  return place;
};

/** Shows one line of progress for each part of the work; none with `--json`. */
export const showParts = ({ json = false }: Options) => {
  let current: Progress = silentProgress;
  let part: PartProgress | null = null;
  const end = (): void => {
    current.end();
    current = silentProgress;
    part = null;
  };
  return {
    onPart: (label: string, total: number): void => {
      end();
      part = { label, done: 0, total };
      if (!json && total > 0) current = showProgress(label, total);
    },
    advance: (): void => {
      current.advance();
      if (part !== null) part.done += 1;
    },
    getProgress: (): PartProgress | null => part,
    end,
  };
};

/** Formats what a backup has: `1 repository`, `2 files`, `3 job logs`. */
export const formatCounts = ({ repositories, blobs, logs }: Manifest['counts']): string[] => [
  spellCount(repositories, 'repository', 'repositories'),
  spellCount(blobs, 'file'),
  spellCount(logs, 'job log'),
];
