import type { Ddl, MigrationText } from '../ddl_keywords.ts';

/** Columns of text, folded, that searches compare. */
const searched = [
  { table: 'issue_search', columns: ['title', 'description'] },
  { table: 'merge_request_search', columns: ['title', 'description'] },
];

/** Kilobytes of new texts that each search reads in order. A higher limit makes searches slower and writes cheaper. */
const pendingKilobytes = 256;

/**
 * Creates indexes of trigrams on PostgreSQL. Without the extension `pg_trgm`, or without the right to create it, the
 * searches work and read every text: `docs/search.md` says how to create the indexes later.
 */
export const trigramIndexes = (
  { engine }: Pick<Ddl, 'engine'>,
  places: readonly { table: string; columns: readonly string[] }[],
): string[] => {
  if (engine === 'sqlite') return [];
  const indexes = places.map(({ table, columns }) => {
    const texts = columns.map((column) => `${column} gin_trgm_ops`);
    return `create index if not exists ${table}_trigrams on ${table} using gin (${texts.join(', ')})
      with (gin_pending_list_limit = ${pendingKilobytes});`;
  });
  return [
    `do $$ begin
      create extension if not exists pg_trgm with schema public;
      ${indexes.join('\n      ')}
    exception when insufficient_privilege or feature_not_supported or undefined_file or undefined_object
      or invalid_schema_name then
      raise notice 'no index of trigrams: %', sqlerrm;
    end $$`,
  ];
};

export const trigramSearch: MigrationText = {
  name: '0068_trigram_search',
  statements: (ddl) => trigramIndexes(ddl, searched),
};
