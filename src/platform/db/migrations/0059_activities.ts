import type { Ddl, MigrationText } from '../ddl_keywords.ts';

/** SQL: a value of the JSON column `events.data` as text. */
const dataText = ({ engine }: Ddl, name: string): string =>
  engine === 'sqlite' ? `json_extract(events.data, '$.${name}')` : `events.data::json ->> '${name}'`;

const dataId = (ddl: Ddl, name: string): string => `cast(${dataText(ddl, name)} as ${ddl.integer})`;

const columns = `created_at, project_id, author_id, action, target_type, target_id, subject_type, subject_id, data`;

type Past = {
  kind: string;
  action: string;
  target?: string;
  target_id?: string;
  subject: string;
  subject_id?: string;
  author?: string;
  where?: string;
  data?: string;
};

/** Fills in the activity of one kind of logged change. */
const fill = (past: Past): string => {
  const { kind, action, target = 'null', target_id = 'null', subject, subject_id = 'null' } = past;
  const { author = 'events.actor_id', where = '1 = 1', data = `'{}'` } = past;
  return `insert into activities (${columns})
    select events.created_at, events.project_id, ${author}, '${action}', ${target}, ${target_id},
      ${subject}, ${subject_id}, ${data}
    from events join projects on projects.id = events.project_id join users on users.id = ${author}
    where events.kind = '${kind}' and ${where} order by events.id`;
};

/** Changes of records that still exist: their events, and the activity of each. */
const pastOf = (noun: string, table: string, type: string, verbs: Record<string, string>): Past[] =>
  Object.entries(verbs).map(([verb, action]) => ({
    kind: `${noun}.${verb}`,
    action,
    target: `'${type}'`,
    target_id: 'events.target_id',
    subject: `'${type}'`,
    subject_id: 'events.target_id',
    where: `exists (select 1 from ${table} where ${table}.id = events.target_id)`,
  }));

const pastChanges = (ddl: Ddl): Past[] => [
  ...pastOf('issue', 'issues', 'Issue', { created: 'created', closed: 'closed', reopened: 'reopened' }),
  ...pastOf('merge_request', 'merge_requests', 'MergeRequest', {
    created: 'created',
    closed: 'closed',
    reopened: 'reopened',
    merged: 'merged',
    approved: 'approved',
  }),
  ...pastOf('milestone', 'milestones', 'Milestone', { created: 'created' }),
  {
    kind: 'note.created',
    action: 'commented',
    target: `'Note'`,
    target_id: 'events.target_id',
    subject: dataText(ddl, 'noteable_type'),
    subject_id: dataId(ddl, 'noteable_id'),
    where: 'exists (select 1 from notes where notes.id = events.target_id)',
  },
  {
    kind: 'commit_comment.created',
    action: 'commented',
    target: `'CommitComment'`,
    target_id: 'events.target_id',
    subject: `'Commit'`,
    where: 'exists (select 1 from commit_comments where commit_comments.id = events.target_id)',
  },
  ...['created', 'updated', 'deleted'].map((verb) => ({
    kind: `ref.${verb}`,
    action: 'pushed',
    subject: `'Commit'`,
    data: 'events.data',
  })),
  { kind: 'project.created', action: 'created', subject: `'Project'` },
  ...Object.entries({ added: 'joined', removed: 'left' }).map(([verb, action]) => ({
    kind: `member.${verb}`,
    action,
    subject: `'Member'`,
    author: dataId(ddl, 'user_id'),
  })),
];

/**
 * Activities: the changes that the events API shows, with the record that decides who may see each. Filled from the
 * change log.
 */
export const activities: MigrationText = {
  name: '0059_activities',
  statements: (ddl) => [
    `create table activities (
      id ${ddl.id},
      created_at ${ddl.integer} not null,
      project_id ${ddl.integer} not null references projects (id) on delete cascade,
      author_id ${ddl.integer} not null references users (id) on delete cascade,
      action ${ddl.text} not null,
      target_type ${ddl.text},
      target_id ${ddl.integer},
      subject_type ${ddl.text} not null,
      subject_id ${ddl.integer},
      data ${ddl.text} not null
    ) ${ddl.end}`,
    'create index activities_project on activities (project_id, created_at, id, action, target_type)',
    'create index activities_author on activities (author_id, created_at, id, action, target_type)',
    'create index activities_created on activities (created_at, id, project_id)',
    `create index activities_subject on activities (subject_type, subject_id) where subject_id is not null`,
    `create index activities_target on activities (target_type, target_id) where target_id is not null`,
    ...pastChanges(ddl).map(fill),
  ],
};
