/** Labels of listed records with their colors, which the JSON of the records has only on request. */
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { TargetType } from '../../../platform/db/schema/column_types.ts';
import { escapeHtml } from '../../../platform/escape_html.ts';
import { JsonText } from '../../../platform/http/endpoint.ts';
import {
  array,
  boolean,
  either,
  int,
  nullable,
  object,
  optional,
  string,
} from '../../../platform/http/schema.ts';
import { textColor } from '../../../projects/labels/colors.ts';
import type { TextLoader } from './json_cache.ts';

export type LinkedLabel = { id: number; name: string; color: string; description: string | null };

const labelsOfRecords = compiled((db, { type, ids }: { type: TargetType; ids: readonly number[] }, dialect) =>
  db
    .selectFrom('label_links')
    .innerJoin('labels', 'labels.id', 'label_links.label_id')
    .select([
      'label_links.target_id',
      'labels.id',
      'labels.title as name',
      'labels.color',
      'labels.description',
    ])
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

const detailShape = object({
  id: int,
  name: string,
  color: string,
  description: nullable(string),
  description_html: string,
  text_color: string,
});

/** The member `labels` of a list that takes `labelDetailsParam`. */
export const listedLabelsShape = either(array(string), array(detailShape));

export const labelDetailsParam = {
  with_labels_details: optional(boolean({ description: 'labels as objects instead of names' })),
};

const toDetail = ({ id, name, color, description }: LinkedLabel) => ({
  id,
  name,
  color,
  description,
  description_html: escapeHtml(description ?? ''),
  text_color: textColor(color),
});

/** Makes a loader of the same texts with labels as objects. They take one statement. */
export const withLabelDetails =
  (type: TargetType, loadTexts: TextLoader): TextLoader =>
  async (call, versions) => {
    const [texts, labels] = await Promise.all([
      loadTexts(call, versions),
      linkedLabels(
        call.db,
        type,
        versions.map(({ id }) => id),
      ),
    ]);
    return texts.map((text) => {
      const record = JSON.parse(text.bytes.toString('utf8')) as { id: number };
      const details = (labels.get(record.id) ?? []).map(toDetail);
      return new JsonText(JSON.stringify({ ...record, labels: details }));
    });
  };
