/** Begins to migrate a database, and kills itself before the statement of that number: `<options> <number>`. */
import type { MigrationText } from '../../src/db/ddl.ts';
import type { OpenOptions } from '../../src/db/engine.ts';
import { migrate } from '../../src/db/migrate.ts';
import { migrationTexts } from '../../src/db/migrations/list.ts';
import { openStore } from '../../src/db/open.ts';
import { systemClock } from '../../src/time.ts';

const [, , options = '{}', last = '0'] = process.argv;
let left = Number(last);

/** Kills the process when the statement is asked for: those before it have run by then. */
const counted = (statements: string[]): string[] =>
  Object.defineProperty([...statements], Symbol.iterator, {
    *value() {
      for (const statement of [...statements, null]) {
        if (left === 0) process.kill(process.pid, 'SIGKILL');
        left -= 1;
        if (statement !== null) yield statement;
      }
    },
  });

const texts: MigrationText[] = migrationTexts.map(({ name, statements }) => ({
  name,
  statements: (ddl) => counted(statements(ddl)),
}));
const store = await openStore(
  { ...(JSON.parse(options) as OpenOptions), onFatal: () => undefined },
  systemClock,
);
await migrate(store, texts);
