import { sql } from 'kysely';
import type { Command } from 'commander';
import type { Reader } from '../../../platform/db/open.ts';
import { type AdminOptions, adminAction } from '../admin/user.ts';
import { columns, print } from '../print_result.ts';
import { spellCount } from '../../../platform/spell_count.ts';
import { readDataSettings } from '../data_owner.ts';
import { withStore } from '../with_store.ts';

type Counts = { name: string; projects: number; leaving: number };

const countProjects = async (db: Reader): Promise<Counts[]> => {
  const { rows } = await sql<Counts>`
    select repository_storage as name, count(*) as projects,
      (select count(*) from repository_moves where source_storage = repository_storage
        and state in ('scheduled', 'started')) as leaving
    from projects where deleted_at is null group by repository_storage order by 1`.execute(db);
  return rows;
};

const list = async (options: AdminOptions): Promise<void> => {
  const { config } = readDataSettings(options);
  const counted = await withStore(config, async ({ db }) => await countProjects(db));
  const byName = new Map(counted.map((row) => [row.name, row]));
  const names = new Set([...config.repository_storages.map(({ name }) => name), ...byName.keys()]);
  const rows = [...names].map((name) => {
    const { projects = 0, leaving = 0 } = byName.get(name) ?? {};
    const is_configured = config.repository_storages.some((site) => site.name === name);
    return { name, projects, moving_away: leaving, is_configured };
  });
  const cells = rows.map((row) => [
    row.name,
    spellCount(row.projects, 'project'),
    row.moving_away === 0 ? '' : `${row.moving_away} moving away`,
    row.is_configured ? '' : 'not configured',
  ]);
  print(options, rows, columns(cells));
};

export const listCommand = (): Command =>
  adminAction('list', {
    summary: 'List the repository storages with the number of their projects.',
    examples: ['gantry storage list', 'gantry storage list --json'],
  }).action(list);
