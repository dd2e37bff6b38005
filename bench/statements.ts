/**
 * Loaded into a service that is measured (`--import`): at SIGUSR1 it writes into the file that BENCH_STATEMENTS names
 * how many statements of SQLite it has run.
 */
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { StatementSync } from 'node:sqlite';

let number = 0;

for (const name of ['run', 'all', 'get', 'iterate'] as const) {
  const inner = StatementSync.prototype[name] as (...values: unknown[]) => unknown;
  Object.defineProperty(StatementSync.prototype, name, {
    value: function counted(this: StatementSync, ...values: unknown[]): unknown {
      number += 1;
      return inner.apply(this, values);
    },
  });
}

process.on('SIGUSR1', () => writeFileSync(process.env['BENCH_STATEMENTS'] ?? '/dev/null', String(number)));
