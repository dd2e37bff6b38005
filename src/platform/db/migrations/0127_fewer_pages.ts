import type { Ddl, MigrationText } from '../ddl_keywords.ts';
import { sqliteLabelLinkCounters } from './counters_sqlite.ts';
import { sqliteTriggersOfLinks } from './revision_triggers.ts';

type Table = { name: string; columns: string; indexes?: readonly string[] };

/** Tables whose whole primary key is short text and numbers. */
const tables: readonly Table[] = [
  {
    name: 'label_links',
    columns: `target_type text not null,
      target_id integer not null,
      label_id integer not null references labels (id) on delete cascade,
      target_created_at integer not null,
      primary key (target_type, target_id, label_id)`,
    indexes: [
      'create index label_links_label on label_links (label_id, target_type, target_created_at, target_id)',
    ],
  },
  {
    name: 'assignees',
    columns: `target_type text not null,
      target_id integer not null,
      user_id integer not null references users (id) on delete cascade,
      position integer not null,
      target_created_at integer not null,
      primary key (target_type, target_id, user_id)`,
    indexes: [
      'create index assignees_user on assignees (user_id, target_type, target_created_at, target_id)',
    ],
  },
  {
    name: 'user_agent_details',
    columns: `target_type text not null,
      target_id integer not null,
      user_agent text not null,
      ip_address text not null,
      primary key (target_type, target_id)`,
  },
];

/** Rebuilds a table under its own name, because renaming one checks the triggers of all others. */
const rebuild = ({ name, columns, indexes = [] }: Table): string[] => [
  `create table ${name}_moved as select * from ${name}`,
  `drop table ${name}`,
  `create table ${name} (${columns}) strict, without rowid`,
  `insert into ${name} select * from ${name}_moved`,
  `drop table ${name}_moved`,
  ...indexes,
];

/**
 * SQLite: keeps the rows of tables in their primary keys, where the rows were a second tree. Every new issue then
 * writes three pages less.
 */
const narrowTables = ({ engine }: Ddl): string[] =>
  engine === 'postgres'
    ? []
    : [
        ...tables.flatMap(rebuild),
        ...sqliteTriggersOfLinks('label_links'),
        ...sqliteTriggersOfLinks('assignees'),
        ...sqliteLabelLinkCounters(),
      ];

/** Writes fewer pages for each change: drops an index that nothing reads, and narrows one to what reads it. */
export const fewerPages: MigrationText = {
  name: '0127_fewer_pages',
  statements: (ddl) => [
    ...narrowTables(ddl),
    'drop index events_actor',
    'drop index activities_target',
    // Only comments are deleted by it; other records by their subject.
    `create index activities_target on activities (target_type, target_id)
      where target_type in ('Note', 'CommitComment')`,
  ],
};
