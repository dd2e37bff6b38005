/** `docs/released_migrations.txt`: a digest of each released migration, which is never edited. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MigrationText, postgresDdl, sqliteDdl } from '../../src/platform/db/ddl_keywords.ts';
import { migrationTexts } from '../../src/platform/db/migrations/list.ts';

/**
 * The last migration of the latest release, or, before the first one, the last one that is older than the rules of
 * migrations. Change it with each release, then run `npm run golden -- released_migrations`.
 */
export const latestReleased = '0202_user_preferences';

const file = join(import.meta.dirname, '../../docs/released_migrations.txt');

/** A line: engine, name, and the SHA-256 of the statements. */
const linesOf = ({ name, statements }: MigrationText): string[] =>
  [sqliteDdl, postgresDdl].map(
    (ddl) => `${ddl.engine} ${name} ${hash('sha256', JSON.stringify(statements(ddl)))}`,
  );

const nameOf = (line: string): string => line.slice(0, line.lastIndexOf(' '));

/**
 * Lists the digests of released migrations.
 * @param recorded lines that were written before
 * @throws Error if a recorded migration was edited or removed
 */
export const listReleased = (migrations: readonly MigrationText[], recorded: readonly string[]): string[] => {
  const released = migrations.filter(({ name }) => name <= latestReleased).flatMap(linesOf);
  const edited = recorded.filter((line) => !released.includes(line)).map(nameOf);
  if (edited.length === 0) return released;
  throw new Error(
    `released migrations were edited or removed: ${edited.join(', ')}. Databases that have them would differ from new ones. Undo that, and write a new migration (src/platform/db/migrations/README.md)`,
  );
};

const readRecorded = (): string[] => {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n');
  } catch {
    return [];
  }
};

export const releasedMigrationsText = (): string =>
  `${listReleased(migrationTexts, readRecorded()).join('\n')}\n`;
