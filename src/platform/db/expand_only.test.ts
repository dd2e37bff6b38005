/**
 * Migrations only expand the schema, so that services of the release before go on beside them, and hold no lock for as
 * long as a large table takes: the rules of migrations/README.md. A SQLite file has one service, so PostgreSQL counts.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { type MigrationText, postgresDdl } from './ddl_keywords.ts';
import { migrationTexts } from './migrations/list.ts';
import { latestReleased } from '../../../test/golden/released_migrations.ts';

/** Tables that have a few rows however large the instance is. */
const small = ['instance', 'migrations', 'settings', 'storages', 'topics', 'broadcast_messages'];

const changelog = readFileSync(join(import.meta.dirname, '../../../CHANGELOG.md'), 'utf8');
const stop = 'stop all services for this upgrade';

/** What a service of the release before would stumble over. */
const breaking: readonly [RegExp, string][] = [
  [/^drop (?:table|view)\b/, 'drops what the release before reads'],
  [
    /^alter table .*\bdrop (?:column|default)\b|\balter column \w+ drop default\b/,
    'drops what the release before reads',
  ],
  [/\brename (?:to|column)\b/, 'renames what the release before reads'],
  [
    /^alter table .*\badd column (?!.*\bdefault\b).*\bnot null\b/,
    'adds a column that the release before does not fill',
  ],
  [/\bset not null\b/, 'refuses rows of the release before'],
];

/** Statements of which the time grows with a table. The group is its name. */
const slow: readonly [RegExp, string][] = [
  [/^(?:update|delete from) "?(\w+)/, 'changes rows, which background work does'],
  [/^insert into .* select .* from "?(\w+)/, 'copies rows, which background work does'],
  [/^create (?:unique )?index .*? on "?(\w+)/, 'builds an index: use indexMigration'],
  [/^alter table "?(\w+)"? .*\balter column \w+ (?:set data )?type\b/, 'writes every row'],
  [
    /^alter table "?(\w+)"? (?!.*\bnot valid\b)(?:.*\badd (?:constraint|check|foreign key|unique|primary key)\b)/,
    'reads every row',
  ],
];

const findFirst = (rules: readonly [RegExp, string][], text: string): [string, string] | null => {
  for (const [pattern, fault] of rules) {
    const match = pattern.exec(text);
    if (match !== null) return [match[1] ?? '', fault];
  }
  return null;
};

/** Lists what is wrong with migrations of one release. */
const findFaults = (migrations: readonly MigrationText[], changes: string): string[] => {
  const texts = migrations.flatMap((migration) =>
    migration
      .statements(postgresDdl)
      .map((text) => ({ migration, text: text.trim().replaceAll(/\s+/g, ' ').toLowerCase() })),
  );
  const created = texts.map(({ text }) => /^create table (?:if not exists )?"?(\w+)/.exec(text)?.[1]);
  const isLarge = (table: string): boolean => !small.includes(table) && !created.includes(table);
  return texts.flatMap(({ migration, text }) => {
    const { name, stopsServices = false, unusedSince, concurrentIndexes } = migration;
    const faults: string[] = [];
    const broken = findFirst(breaking, text);
    const isUnused = unusedSince !== undefined && changes.includes(`\n## ${unusedSince}`);
    if (broken !== null && !stopsServices && !isUnused) faults.push(broken[1]);
    const slowed = concurrentIndexes === undefined ? findFirst(slow, text) : null;
    if (slowed !== null && !stopsServices && isLarge(slowed[0])) faults.push(`${slowed[1]} (${slowed[0]})`);
    if (stopsServices && !changes.toLowerCase().includes(stop))
      faults.push(`the changelog does not say "${stop}"`);
    return faults.map((fault) => `${name}: ${fault}: ${text.slice(0, 80)}`);
  });
};

it('migrations after the latest release let services of that release go on', () => {
  assert.ok(migrationTexts.some(({ name }) => name === latestReleased));
  const later = migrationTexts.filter(({ name }) => name > latestReleased);
  assert.deepEqual(findFaults(later, changelog), []);
});

const faultOf = (statement: string, more: Partial<MigrationText> = {}, changes = ''): string => {
  const [fault = ''] = findFaults([{ name: 'new', statements: () => [statement], ...more }], changes);
  return fault.split(': ')[1] ?? '';
};

it('the check of migrations finds each forbidden statement', () => {
  for (const [statement, fault] of [
    ['drop table notes', /^drops/],
    ['alter table notes drop column note', /^drops/],
    ['alter table notes alter column note drop default', /^drops/],
    ['alter table notes rename column note to text', /^renames/],
    ['alter table notes\n rename to remarks', /^renames/],
    ['alter table notes add column pages bigint not null', /^adds a column/],
    ['alter table notes alter column note set not null', /^refuses/],
    ['update notes set note = 1', /^changes rows.*\(notes\)/],
    ['delete from notes', /^changes rows/],
    ['insert into remarks (note)\n select note from notes', /^copies rows.*\(notes\)/],
    ['create unique index notes_once on notes (id)', /^builds an index/],
    ['alter table notes alter column note type bigint', /^writes every row/],
    ['alter table notes add constraint short check (note < 9)', /^reads every row/],
  ] as const)
    assert.match(faultOf(statement), fault, statement);
  assert.match(faultOf('drop table notes', { stopsServices: true }), /^the changelog does not say/);
  assert.match(faultOf('drop table notes', { unusedSince: '10.0.9' }), /^drops/);
});

it('lets pass what expands, and what is declared', () => {
  for (const statement of [
    'create table notes (id bigint not null)',
    'alter table notes add column pages bigint',
    'alter table notes add column pages bigint not null default 0',
    'alter table notes alter column note drop not null',
    'alter table notes add constraint short check (note < 9) not valid',
    'drop index notes_once',
    'update settings set page = 1',
  ])
    assert.equal(faultOf(statement), '', statement);
  const created = ['create table remarks (id bigint)', 'create index remarks_id on remarks (id)'];
  assert.deepEqual(findFaults([{ name: 'new', statements: () => created }], ''), []);
  const index = { concurrentIndexes: [{ name: 'notes_once', on: 'notes (id)' }] };
  assert.equal(faultOf('create index notes_once on notes (id)', index), '');
  assert.equal(
    faultOf('drop table notes', { stopsServices: true }, `- *Stop all services for this upgrade.*`),
    '',
  );
  assert.equal(faultOf('alter table notes drop column note', { unusedSince: '10.0.9' }, '\n## 10.0.9'), '');
});

it('finds faults of migrations that came before the rules', () => {
  const faults = migrationTexts.flatMap((one) => findFaults([one], '')).join('\n');
  for (const fault of ['drops what', 'renames what', 'changes rows', 'builds an index'])
    assert.match(faults, new RegExp(fault));
});
