/**
 * The golden files: what the code says of itself, kept in `docs/` so that a change of it is seen in review.
 *
 *   npm run golden        writes them anew
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiPrefix } from '../src/http/mount.ts';
import { endpoints } from '../src/routes.ts';
import { openApiText } from '../src/web/docs_routes.ts';
import { accessText } from './golden/access.ts';
import { clientParametersText } from './golden/client_parameters.ts';
import { queryPlansText } from './golden/query_plans.ts';
import { postgresSchema, sqliteSchema } from './golden/schema.ts';
import { settingsText } from './golden/settings.ts';
import { startPostgres } from './support/postgres.ts';
import { engine } from './support/service.ts';

export const folder = join(import.meta.dirname, '../docs');

const routesText = (): string => {
  const lines = endpoints.map(({ method, path }) => ({ path: apiPrefix + path, method }));
  const key = ({ path, method }: { path: string; method: string }): string => `${path} ${method}`;
  const sorted = lines.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
  return `${sorted.map(({ method, path }) => `${method} ${path}`).join('\n')}\n`;
};

export type Golden = { file: string; make: () => string | Promise<string> };

/** @param postgresUrl null: without the file that only PostgreSQL can tell */
export const goldens = (postgresUrl: string | null): Golden[] => [
  { file: 'routes.txt', make: routesText },
  { file: 'access.txt', make: accessText },
  { file: 'openapi.json', make: () => openApiText(endpoints) },
  { file: 'settings.md', make: settingsText },
  { file: 'client_parameters.txt', make: () => clientParametersText(endpoints) },
  { file: 'schema.sqlite.sql', make: sqliteSchema },
  // The service of this test runs on the engine that is tested.
  ...(engine === 'sqlite' ? [{ file: 'query_plans.txt', make: queryPlansText }] : []),
  ...(postgresUrl === null
    ? []
    : [{ file: 'schema.postgres.sql', make: async () => await postgresSchema(postgresUrl) }]),
];

const writeAll = async (): Promise<void> => {
  const server = await startPostgres();
  try {
    mkdirSync(folder, { recursive: true });
    for (const { file, make } of goldens(server.url)) {
      writeFileSync(join(folder, file), await make());
      console.log(`docs/${file}`);
    }
  } finally {
    await server.stop();
  }
};

if (import.meta.main) {
  if (process.argv[2] === '--write') await writeAll();
  else {
    console.error('usage: node test/golden.ts --write');
    process.exitCode = 2;
  }
}
