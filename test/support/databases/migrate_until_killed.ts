/** Migrates a database and kills itself before statement `<number>`: `<options> <number>`. */
import type { MigrationText } from '../../../src/platform/db/ddl_keywords.ts';
import type { OpenOptions } from '../../../src/platform/db/engine.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { migrationTexts } from '../../../src/platform/db/migrations/list.ts';
import { openStore } from '../../../src/platform/db/open.ts';
import { systemClock } from '../../../src/platform/time.ts';

const [, , options = '{}', last = '0'] = process.argv;
let remaining = Number(last);

/** Kills the process when the statement is about to run; the statements before it have run. */
const counted = (statements: string[]): string[] =>
  Object.defineProperty([...statements], Symbol.iterator, {
    *value() {
      for (const statement of [...statements, null]) {
        if (remaining === 0) process.kill(process.pid, 'SIGKILL');
        remaining -= 1;
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
