/**
 * PostgreSQL plans the statements of every GET endpoint as for tables of 100,000 rows: no plan reads a whole table.
 * The statistics of that size are planted, so that few rows are written.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { endpoints } from '../../src/app/routes.ts';
import { seedPipeline } from '../support/ci/jobs.ts';
import { fillTables } from '../support/databases/older_schema.ts';
import {
  seedGroup,
  seedIssue,
  seedMember,
  seedMergeRequest,
  seedProject,
  seedUser,
} from '../support/seed.ts';
import { observeQueries } from '../support/record_statements.ts';
import { type TestService, engine, rootToken, startTestService } from '../support/service.ts';
import type { Store } from '../../src/platform/db/open.ts';
import { sample } from '../support/run/sample.ts';
import { isKnownScan } from './known_scans.ts';
import { plantStatistics } from './planted_statistics.ts';

const skip = engine !== 'postgres';

let gantry: TestService;
let token: string;
/** Records that exist, by the parameters of paths. */
let records: Record<string, string | number>;

type Statement = { text: string; values: unknown[] };

/** Statements that the service sends. */
let sent: Statement[] = [];
let stop = (): void => undefined;

/** Gives each table a page, without which PostgreSQL takes it for empty, whatever its statistics say. */
const addPages = async (store: Store): Promise<void> => {
  const undone = new Error('undone');
  const fill = store.write(async (tx) => {
    await fillTables(tx);
    throw undone;
  });
  await fill.catch((error: unknown) => {
    if (error !== undone) throw error;
  });
};

before(async () => {
  if (skip) return;
  gantry = await startTestService();
  await addPages(gantry.service.platform.store);
  const user = await seedUser(gantry);
  const group = await seedGroup(gantry, { owner: user.id });
  const project = await seedProject(gantry, { namespace: group.id });
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 40 });
  for (const seed of [seedIssue, seedMergeRequest])
    await seed(gantry, { project: project.id, title: 'First', description: 'One' });
  const pipeline = await seedPipeline(gantry, { project: project.id, file: 'a: { script: make }' });
  records = {
    group: group.full_path,
    project: project.id,
    user: user.id,
    user_id: user.id,
    pipeline_id: pipeline.id,
    job_id: pipeline.jobs['a'] ?? 0,
  };
  token = user.token;
  stop = observeQueries((statement) => void sent.push(statement));
});
after(async () => {
  stop();
  if (!skip) await gantry.close();
});

const gets = endpoints.filter(({ method }) => method === 'GET');

const fillPath = (path: string): string =>
  path.replaceAll(/:(\w+)/g, (_whole, name: string) => {
    const kind = name === 'id' ? (/^\/(\w+?)s?\//.exec(path)?.[1] ?? '') : name;
    return encodeURIComponent(records[kind] ?? '1');
  });

/** Requests an endpoint, for a record that exists where one does, and returns the statements that read. */
const request = async (path: string, as: string): Promise<Statement[]> => {
  const address = fillPath(path);
  sent = [];
  const { status } = await gantry.api(`GET ${address}`, { as });
  assert.notEqual(status, 500, address);
  return sent.filter(({ text }) => /^\s*(?:select|with)\b/i.test(text));
};

type Plan = { 'Node Type': string; 'Relation Name'?: string; Plans?: Plan[] };

/** Returns the tables that a plan reads whole. */
const scannedBy = (plan: Plan): string[] => [
  ...(plan['Node Type'] === 'Seq Scan' ? [plan['Relation Name'] ?? ''] : []),
  ...(plan.Plans ?? []).flatMap(scannedBy),
];

test('reads no large table whole for any endpoint', { skip }, async () => {
  const client = new pg.Client({ connectionString: gantry.service.platform.config.database_url ?? '' });
  await client.connect();
  await client.query('begin');
  await client.query(`set search_path = ${gantry.service.platform.config.database_schema}, public`);
  const large = await plantStatistics(client);
  const faults = new Set<string>();
  const explained = new Set<string>();
  const explain = async (path: string, { text, values }: Statement): Promise<void> => {
    if (explained.has(text)) return;
    explained.add(text);
    const { rows } = await client.query(`explain (format json) ${text}`, values);
    const tables = scannedBy(rows[0]['QUERY PLAN'][0].Plan).filter((table) => large.has(table));
    for (const table of tables) if (!isKnownScan(table, text)) faults.add(`${path} reads ${table}: ${text}`);
  };
  const some = sample(gets, 3, ({ path }) => path);
  for (const { path } of some) {
    for (const as of [token, rootToken])
      for (const statement of await request(path, as)) await explain(path, statement);
  }
  await client.query('rollback');
  await client.end();
  assert.ok(explained.size > some.length / 2, `${explained.size} statements`);
  assert.deepEqual([...faults], []);
});
