/** Labels of listed records with their colors, which the JSON of the records does not have. */
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { TargetType } from '../../../platform/db/schema/column_types.ts';

export type LinkedLabel = { name: string; color: string; description: string | null };

const labelsOfRecords = compiled((db, { type, ids }: { type: TargetType; ids: readonly number[] }, dialect) =>
  db
    .selectFrom('label_links')
    .innerJoin('labels', 'labels.id', 'label_links.label_id')
    .select(['label_links.target_id', 'labels.title as name', 'labels.color', 'labels.description'])
    .where('label_links.target_type', '=', type)
    .where(dialect.oneOf('label_links.target_id', ids))
    .orderBy('labels.title')
    .compile(),
);

/** Loads the labels of records in one statement, by id of the record, sorted by title. */
export const linkedLabels = async (
  db: Reader,
  type: TargetType,
  ids: readonly number[],
): Promise<Map<number, LinkedLabel[]>> => {
  const labels = new Map<number, LinkedLabel[]>();
  if (ids.length === 0) return labels;
  for (const { target_id, ...label } of await labelsOfRecords(db, { type, ids })) {
    const own = labels.get(target_id);
    if (own === undefined) labels.set(target_id, [label]);
    else own.push(label);
  }
  return labels;
};
