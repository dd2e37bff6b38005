/** The alert rules and the dashboard of `deploy/monitoring/`: every metric that they name is served. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { seedProject } from '../support/seed.ts';
import { type TestService, engine, startTestService } from '../support/service.ts';

const folder = join(import.meta.dirname, '../../deploy/monitoring');
const rules = readFileSync(join(folder, 'alerts.yml'), 'utf8');
const dashboard = readFileSync(join(folder, 'dashboard.json'), 'utf8');

const collector = createServer((request, response) => {
  request.resume();
  response.end('{}');
});
let gantry: TestService;
before(async () => {
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  const { port } = collector.address() as AddressInfo;
  gantry = await startTestService({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    GANTRY_MONITORING_TOKEN: 'token-of-the-monitor',
  });
});
after(async () => {
  await gantry.close();
  collector.close();
});

/** What one engine alone has. */
const absent = engine === 'sqlite' ? 'gantry_database_connections' : 'gantry_database_wal_bytes';

/** Served where a storage has a certificate: see `test/cli/gitd_tls.test.ts`. */
const ofCertificates = 'gantry_storage_certificate_expiry_seconds';

type Rule = { alert: string; expr: string; annotations: { summary: string } };
type Panel = { title: string; targets: { expr: string }[] };

const expressions = (): string[] => [
  ...(parse(rules) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) =>
    group.rules.map(({ expr }) => expr),
  ),
  ...(JSON.parse(dashboard) as { panels: Panel[] }).panels.flatMap(({ targets }) =>
    targets.map(({ expr }) => expr),
  ),
];

const metricsIn = (expression: string): string[] =>
  [...expression.matchAll(/\b(?:gantry|process|nodejs)_\w+/g)].map(([name]) =>
    name.replace(/_(?:bucket|sum|count)$/, ''),
  );

test('every metric of the rules and the dashboard is served', async () => {
  const { id } = await seedProject(gantry);
  await gantry.api(`GET /projects/${id}/repository/branches`);
  await gantry.service.platform.store.write(async ({ db, now }) => {
    const row = { name: 'b', destination: '/srv', holder: 'one', held_until: null, bytes: 1, error: null };
    const times = { started_at: now, finished_at: now, verified_at: now };
    await db
      .insertInto('backups')
      .values({ ...row, ...times })
      .execute();
  });
  const text = await (await fetch(`${gantry.url}/-/metrics`)).text();
  const served = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name));
  const named = new Set(expressions().flatMap(metricsIn));
  assert.ok(named.size > 15);
  assert.deepEqual(
    [...named].filter((name) => !served.has(name) && name !== absent && name !== ofCertificates),
    [],
  );
  assert.equal(served.has(absent), false);
  for (const line of text.split('\n').filter((one) => one !== '' && !one.startsWith('#')))
    assert.match(line, /^\w+(?:\{[^}]*\})? (?:[\d.e+-]+|NaN|\+Inf)$/i);
});

test('the scrape job is the one of the rules, and gets the metrics with the token', async () => {
  const { scrape_configs, rule_files } = parse(readFileSync(join(folder, 'prometheus.yml'), 'utf8')) as {
    scrape_configs: { job_name: string; metrics_path: string }[];
    rule_files: string[];
  };
  const jobs = new Set([...rules.matchAll(/job="([^"]*)"/g)].map(([, name]) => name));
  assert.deepEqual([...jobs], [scrape_configs[0]?.job_name]);
  assert.match(rules, new RegExp(`rule_files: \\[${rule_files[0]}\\]`));
  const from = { 'x-forwarded-for': '172.17.0.1' };
  const url = `${gantry.url}${scrape_configs[0]?.metrics_path}`;
  assert.equal((await fetch(url, { headers: from })).status, 404);
  const authorization = 'Bearer token-of-the-monitor';
  assert.equal((await fetch(url, { headers: { ...from, authorization } })).status, 200);
});

test('the rules and the dashboard name the backups', () => {
  for (const name of ['gantry_backup_failed', 'gantry_backup_last_verified_timestamp'])
    assert.ok(rules.includes(name), name);
  assert.ok(dashboard.includes('gantry_backup_last_success_timestamp'));
});

test('labels that rules compare are served', async () => {
  const text = await (await fetch(`${gantry.url}/-/metrics`)).text();
  for (const sample of [
    'gantry_part_up{part="database"} 1',
    'gantry_part_up{part="blobs"} 1',
    'gantry_part_up{part="storage:default"} 1',
    'gantry_disk_free_bytes{place="data"} ',
    'gantry_jobs{state="pending"} 0',
    'gantry_runners{state="seen"} 0',
    'gantry_gitd_slots{storage="default",kind="transfer",state="waiting"} 0',
    'gantry_gitd_processes{storage="default"} ',
    'gantry_backup_failed 0',
    'gantry_trace_spans{outcome="dropped"} 0',
  ])
    assert.ok(text.includes(`\n${sample}`), sample);
});
