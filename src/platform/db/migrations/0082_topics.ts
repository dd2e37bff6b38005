import type { Ddl, MigrationText } from '../ddl_keywords.ts';

const visibilities = ['public', 'internal', 'private'] as const;

const column = (visibility: string): string => `${visibility}_projects_count`;

/** SQLite: adds a project of `project_topics` to the counters of a topic, or takes it away. */
const addOne = (row: 'new' | 'old', sign: '+' | '-'): string => {
  const sets = visibilities.map(
    (visibility) => `${column(visibility)} = ${column(visibility)} ${sign} (select count(*) from projects
      where id = ${row}.project_id and deleted_at is null and visibility = '${visibility}')`,
  );
  return `update topics set ${sets.join(', ')} where id = ${row}.topic_id;`;
};

/** The change of each counter when a project changes its visibility or is removed. */
const moves = visibilities
  .map(
    (visibility) => `${column(visibility)} = ${column(visibility)}
      + (case when new.deleted_at is null and new.visibility = '${visibility}' then 1 else 0 end)
      - (case when old.deleted_at is null and old.visibility = '${visibility}' then 1 else 0 end)`,
  )
  .join(', ');

const ofMovedProject = 'where id in (select topic_id from project_topics where project_id = new.id)';

const sqliteCounters = [
  `create trigger project_topics_counted_insert after insert on project_topics begin ${addOne('new', '+')} end`,
  `create trigger project_topics_counted_delete after delete on project_topics begin ${addOne('old', '-')} end`,
  `create trigger project_topics_counted_update after update of topic_id on project_topics begin
    ${addOne('old', '-')} ${addOne('new', '+')} end`,
  `create trigger projects_counted_in_topics after update of visibility, deleted_at on projects
    begin update topics set ${moves} ${ofMovedProject}; end`,
];

/** PostgreSQL: adds the changed rows to the counters, topics by id, so that transactions lock them in one order. */
const addRows = (sign: '+' | '-', table: string): string => {
  const sums = visibilities.map(
    (visibility) => `count(*) filter (where projects.visibility = '${visibility}') as ${column(visibility)}`,
  );
  const sets = visibilities.map(
    (visibility) => `${column(visibility)} = topics.${column(visibility)} ${sign} one.${column(visibility)}`,
  );
  return `for one in
      select topic_id, ${sums.join(', ')} from ${table} join projects on projects.id = project_id
      where deleted_at is null group by topic_id order by topic_id
    loop
      update topics set ${sets.join(', ')} where id = one.topic_id;
    end loop;`;
};

const postgresCounter = (change: 'insert' | 'delete' | 'update', tables: string, body: string): string[] => [
  `create function count_${change}_of_project_topics() returns trigger language plpgsql as $$
    declare one record; begin ${body} return null; end $$`,
  `create trigger project_topics_counted_${change} after ${change} on project_topics referencing ${tables}
    for each statement execute function count_${change}_of_project_topics()`,
];

const postgresCounters = [
  ...postgresCounter('insert', 'new table as added', addRows('+', 'added')),
  ...postgresCounter('delete', 'old table as gone', addRows('-', 'gone')),
  ...postgresCounter(
    'update',
    'old table as gone new table as added',
    `${addRows('-', 'gone')} ${addRows('+', 'added')}`,
  ),
  `create function count_project_in_topics() returns trigger language plpgsql as $$ begin
    perform 1 from topics ${ofMovedProject} order by id for no key update;
    update topics set ${moves} ${ofMovedProject};
    return null; end $$`,
  `create trigger projects_counted_in_topics after update of visibility, deleted_at on projects for each row
    when (old.visibility is distinct from new.visibility or old.deleted_at is distinct from new.deleted_at)
    execute function count_project_in_topics()`,
];

const tables = ({ id, text, integer, end }: Ddl): string[] => [
  `create table topics (
    id ${id},
    name ${text} not null,
    folded_name ${text} not null,
    title ${text} not null,
    description ${text},
    avatar ${text},
    is_described ${integer} not null default 0,
    ${visibilities.map((visibility) => `${column(visibility)} ${integer} not null default 0,`).join(' ')}
    created_at ${integer} not null,
    updated_at ${integer} not null
  ) ${end}`,
  'create unique index topics_name on topics (folded_name)',
  `insert into topics (name, folded_name, title, created_at, updated_at)
    select min(project_topics.name), folded_name, min(project_topics.name), min(created_at), min(created_at)
    from project_topics join projects on projects.id = project_id group by folded_name order by folded_name`,
  'alter table project_topics rename to named_topics',
  `create table project_topics (
    project_id ${integer} not null references projects (id) on delete cascade,
    position ${integer} not null,
    topic_id ${integer} not null references topics (id) on delete cascade,
    primary key (project_id, position)
  ) ${end}`,
];

const orders = {
  topics_public: column('public'),
  topics_open: `(${column('public')} + ${column('internal')})`,
  topics_all: `(${visibilities.map(column).join(' + ')})`,
};

/** Topics as records of the instance, with counters of their projects by visibility, which triggers maintain. */
export const topics: MigrationText = {
  name: '0082_topics',
  statements: (ddl) => [
    ...tables(ddl),
    ...(ddl.engine === 'sqlite' ? sqliteCounters : postgresCounters),
    `insert into project_topics (project_id, position, topic_id)
      select project_id, position, topics.id from named_topics
      join topics on topics.folded_name = named_topics.folded_name`,
    'drop table named_topics',
    'create unique index project_topics_topic on project_topics (topic_id, project_id)',
    ...Object.entries(orders).map(([name, order]) => `create index ${name} on topics (${order} desc, id)`),
  ],
};
