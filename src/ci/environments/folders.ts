/** Groups environments by the part of their name before the first slash: `review/topic` is in the folder `review`. */
import type { Reader } from '../../platform/db/open.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import { type EnvironmentFilter, type EnvironmentRow, selectMatching } from './queries.ts';

/** Environments whose names are read for the folders of a project. */
const maxNames = 10_000;

type Folder = { folder: string; count: number };
export type FolderEntry = Folder | { environment: EnvironmentRow };

type Named = { id: number; name: string };

const getFolder = (name: string): string | null => (name.includes('/') ? (name.split('/')[0] ?? null) : null);

/** Lists folders, and the environments that share no folder with another one, in the order of their names. */
const toEntries = (rows: readonly Named[]): (Named | Folder)[] => {
  const groups = Map.groupBy(rows, ({ name, id }) => getFolder(name) ?? id);
  return [...groups].flatMap(([folder, some]): (Named | Folder)[] =>
    typeof folder === 'string' && some.length > 1 ? [{ folder, count: some.length }] : some,
  );
};

type FolderFilter = EnvironmentFilter & {
  /** Lists the environments of this folder; undefined: folders, and environments outside of them. */
  folder?: string | undefined;
};

/**
 * Lists a page of environments and folders by name. A search lists environments only.
 * @returns also the number of environments that match, including environments in folders
 */
export const listEnvironmentFolders = async (
  db: Reader,
  projectId: number,
  { folder, ...filter }: FolderFilter,
  { limit, offset }: PageRequest,
): Promise<Page<FolderEntry> & { environments: number }> => {
  const rows = await selectMatching(db, projectId, filter)
    .select(['id', 'name'])
    .orderBy('name')
    .limit(maxNames)
    .execute();
  const matching = folder === undefined ? rows : rows.filter(({ name }) => getFolder(name) === folder);
  const isFlat = folder !== undefined || (filter.search ?? '') !== '';
  const entries = isFlat ? matching : toEntries(matching);
  const shown = entries.slice(offset, offset + limit);
  const ids = shown.flatMap((entry) => ('folder' in entry ? [] : [entry.id]));
  const environments =
    ids.length === 0 ? [] : await db.selectFrom('environments').selectAll().where('id', 'in', ids).execute();
  const byId = new Map(environments.map((row) => [row.id, row]));
  const items = shown.flatMap((entry): FolderEntry[] => {
    if ('folder' in entry) return [entry];
    const environment = byId.get(entry.id);
    return environment === undefined ? [] : [{ environment }];
  });
  return { items, total: entries.length, environments: matching.length };
};
