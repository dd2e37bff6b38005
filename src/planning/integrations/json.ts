import type { Selectable } from 'kysely';
import type { IntegrationsTable } from '../../platform/db/schema/planning.ts';
import { anything, bool, int, object, string, timestamp } from '../../platform/http/schema.ts';
import { formatTime } from '../../platform/time.ts';
import { type Properties, type Slug, secretNames, trackers } from './trackers.ts';

const fields = {
  id: int,
  title: string,
  slug: string,
  created_at: timestamp,
  updated_at: timestamp,
  active: bool,
};

/** An integration in a list. */
export const integrationShape = object(fields);

export const singleIntegrationShape = object({ ...fields, properties: anything });

export type IntegrationRow = Selectable<IntegrationsTable>;

export const storedProperties = ({ properties }: Pick<IntegrationRow, 'properties'>): Properties =>
  JSON.parse(properties) as Properties;

export const integrationJson = (row: IntegrationRow) => ({
  id: row.id,
  title: trackers[row.slug as Slug].title,
  slug: row.slug,
  created_at: formatTime(row.created_at),
  updated_at: formatTime(row.updated_at),
  active: row.active === 1,
});

/** JSON of an integration with its properties, without secrets. */
export const singleIntegrationJson = (row: IntegrationRow) => {
  const stored = storedProperties(row);
  const { required, optional } = trackers[row.slug as Slug];
  const shown = [...required, ...optional].filter((name) => !secretNames.includes(name));
  return {
    ...integrationJson(row),
    properties: Object.fromEntries(shown.map((name) => [name, stored[name] ?? null])),
  };
};
