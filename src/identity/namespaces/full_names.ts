import { sql } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';

type Named = { id: number; name: string; parent_id: number | null };

const separator = ' / ';

/**
 * Loads the full name (`Group / Subgroup`) of each namespace by id, in one statement; in none for top-level
 * namespaces only.
 */
export const loadFullNames = async (
  db: Reader,
  namespaces: readonly Named[],
): Promise<Map<number, string>> => {
  const names = new Map(namespaces.map(({ id, name }) => [id, name]));
  const nested = namespaces.filter(({ parent_id }) => parent_id !== null).map(({ id }) => id);
  if (nested.length === 0) return names;
  const { rows } = await sql<{ leaf: number; name: string }>`
    with recursive ancestors (leaf, parent_id, name, height) as (
      select id, parent_id, name, 1 from namespaces where id in (${sql.join([...new Set(nested)])})
      union all
      select ancestors.leaf, namespaces.parent_id, namespaces.name, ancestors.height + 1
      from namespaces join ancestors on namespaces.id = ancestors.parent_id
    ) select leaf, name from ancestors order by leaf, height
  `.execute(db);
  for (const id of nested) names.delete(id);
  for (const { leaf, name } of rows) {
    const below = names.get(leaf);
    names.set(leaf, below === undefined ? name : name + separator + below);
  }
  return names;
};

/** Joins the name of a project or group with the names of the groups above it. */
export const joinNames = (...names: string[]): string => names.join(separator);
