/**
 * The golden files: what the code says of itself, kept in `docs/` so that a change of it is seen in review.
 *
 *   npm run golden                      rewrites them
 *   npm run golden -- routes openapi    writes those of these names
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiPrefix } from '../src/platform/http/mount.ts';
import { endpoints } from '../src/app/routes.ts';
import { openApiText } from '../src/doors/web/docs/routes.ts';
import { accessText } from './golden/access.ts';
import { ciKeywordsText } from './golden/ci_keywords.ts';
import { clientCallsText } from './golden/client_calls.ts';
import { clientParametersText } from './golden/client_parameters.ts';
import { configurationText } from './golden/configuration.ts';
import { commandsText } from './golden/commands.ts';
import { queryPlansText } from './golden/query_plans.ts';
import { releasedMigrationsText } from './golden/released_migrations.ts';
import { postgresSchema, sqliteSchema } from './golden/schema.ts';
import { settingsText } from './golden/settings.ts';
import { webhookPayloadsText } from './golden/webhook_payloads.ts';
import { startPostgres } from './support/databases/postgres.ts';
import { engine } from './support/service.ts';

export const folder = join(import.meta.dirname, '../docs');

const routesText = (): string => {
  const lines = endpoints.map(({ method, path }) => ({ path: apiPrefix + path, method }));
  const key = ({ path, method }: { path: string; method: string }): string => `${path} ${method}`;
  const sorted = lines.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
  return `${sorted.map(({ method, path }) => `${method} ${path}`).join('\n')}\n`;
};

const postgresFile = 'schema.postgres.sql';

export type Golden = { file: string; make: () => string | Promise<string> };

/** @param postgresUrl null: without the file that only PostgreSQL can tell */
export const goldens = (postgresUrl: string | null): Golden[] => [
  { file: 'routes.txt', make: routesText },
  { file: 'access.txt', make: accessText },
  { file: 'openapi.json', make: () => openApiText(endpoints) },
  { file: 'commands.md', make: commandsText },
  { file: 'settings.md', make: settingsText },
  { file: 'configuration.md', make: configurationText },
  { file: 'ci_keywords.md', make: ciKeywordsText },
  { file: 'client_parameters.txt', make: () => clientParametersText(endpoints) },
  { file: 'client_calls.txt', make: () => clientCallsText(endpoints) },
  { file: 'webhook_payloads.json', make: webhookPayloadsText },
  { file: 'released_migrations.txt', make: releasedMigrationsText },
  { file: 'schema.sqlite.sql', make: sqliteSchema },
  // The service of this test runs on the engine that is tested.
  ...(engine === 'sqlite' ? [{ file: 'query_plans.txt', make: queryPlansText }] : []),
  ...(postgresUrl === null
    ? []
    : [{ file: postgresFile, make: async () => await postgresSchema(postgresUrl) }]),
];

/** Whether a golden is named by its file, or by the first part of its name: `schema` means both. */
const isNamed = (file: string, names: readonly string[]): boolean =>
  names.length === 0 || names.some((name) => file === name || file.startsWith(`${name}.`));

const write = async (all: Golden[], names: readonly string[]): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  for (const { file, make } of all.filter(({ file }) => isNamed(file, names))) {
    writeFileSync(join(folder, file), await make());
    console.log(`docs/${file}`);
  }
};

/** Writes the goldens of these names; all without a name. */
const writeGoldens = async (names: readonly string[]): Promise<void> => {
  const files = [...goldens(null).map(({ file }) => file), postgresFile];
  const unknown = names.filter((name) => !files.some((file) => isNamed(file, [name])));
  if (unknown.length > 0) {
    console.error(`no golden is named ${unknown.join(', ')}; there are: ${files.join(', ')}`);
    process.exitCode = 2;
    return;
  }
  if (!isNamed(postgresFile, names)) {
    await write(goldens(null), names);
    return;
  }
  const server = await startPostgres();
  try {
    await write(goldens(server.url), names);
  } finally {
    await server.stop();
  }
};

// Not awaited: test/golden.test.ts imports this file, and test/support/run/one_process.ts takes none that awaits.
if (import.meta.main) void writeGoldens(process.argv.slice(2));
