import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { restoredTables } from './restored_tables.ts';

const schema = readFileSync(join(import.meta.dirname, '../../../../../docs/schema.sqlite.sql'), 'utf8');

/** Columns by table. */
const tables = new Map(
  [...schema.matchAll(/^CREATE TABLE (\w+) \(\n(.*?)\n\) strict(?:, without rowid)?;/gms)].map(
    ([, name = '', body = '']) => [
      name,
      [...body.matchAll(/^ {2}(\w+) (?:integer|text|blob|real)/gm)].map(([, column = '']) => column),
    ],
  ),
);

/** Tables of a project that a restore leaves out; docs/backup.md says so, or they follow from others. */
const leftOut = [
  'activities',
  'byte_holds',
  'code_files',
  'code_indexes',
  'deploy_key_projects',
  'deploy_tokens',
  'events',
  'git_operations',
  'hook_events',
  'hooks',
  'integrations',
  'job_token_groups',
  'job_token_projects',
  'label_counts',
  'notification_settings',
  'pending_jobs',
  'repository_moves',
  'project_counters',
  'project_imports',
  'project_topics',
  'runner_projects',
  'saved_views',
  'shared_traces',
  'todos',
  'triggers',
];

test('restores or leaves out each table of a project', () => {
  assert.ok(tables.size > 80);
  const ofProjects = [...tables]
    .filter(([, columns]) => columns.includes('project_id'))
    .map(([name]) => name);
  const known = new Set([...leftOut, ...restoredTables.map(({ name }) => name)]);
  assert.deepEqual(
    ofProjects.filter((name) => !known.has(name)),
    [],
  );
});

/** Columns that are no id of a row of this instance, or that belong to a group, which no row of a project has. */
const kept = new Set(['id', 'group_id', 'system_id', 'mentioned_by_id', 'discussion_id', 'blob_id']);

for (const { name, columns, later = {} } of restoredTables)
  test(`has a rule for each id of ${name}`, () => {
    const ids = (tables.get(name) ?? []).filter((column) => column.endsWith('_id') && !kept.has(column));
    assert.deepEqual(
      ids.filter((column) => !(column in columns) && !(column in later)),
      [],
    );
    assert.deepEqual(
      Object.keys({ ...columns, ...later }).filter((column) => tables.get(name)?.includes(column) !== true),
      [],
    );
  });
