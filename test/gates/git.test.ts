/** Reading JSON of merge requests, issues and code starts no process: long-lived processes or the store answer. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { after, before, test } from 'node:test';
import { openRequest, toPath, seedBranch, seedCoded, settle } from '../support/seed_merge_requests.ts';
import { type TestService, startTestService } from '../support/service.ts';

const folder = mkdtempSync(join(tmpdir(), 'gantry-spawns-'));
const noted = join(folder, 'noted');
const preload = pathToFileURL(join(import.meta.dirname, '../support/machine/record_spawns.ts')).href;
const flag = `--import=${preload}?into=${noted}`;

let gantry: TestService;
let paths: string[];

before(async () => {
  writeFileSync(noted, '');
  // A gitd is started with what this process was.
  process.execArgv.push(flag);
  gantry = await startTestService();
  const project = await seedCoded(gantry);
  await seedBranch(gantry, project, 'topic', { message: 'Closes #1\n' });
  await gantry.api(`POST /projects/${project.id}/issues`, { json: { title: 'One' } });
  const request = await openRequest(gantry, project, 'topic');
  await settle(gantry);
  const [version] = (await gantry.api(`GET ${toPath(request)}/versions`)).body;
  const own = `/projects/${project.id}`;
  const code = `${own}/repository`;
  paths = [
    '/merge_requests?scope=all',
    `${own}/merge_requests`,
    `${own}/issues`,
    `${own}/issues/1`,
    `${own}/issues/1/closed_by`,
    ...['', '/commits', '/changes', '/diffs', '/closes_issues', '/participants', '/notes', '/discussions']
      .concat('/versions', `/versions/${version.id}`, '/approvals', '/pipelines', '/time_stats')
      .map((rest) => toPath(request) + rest),
    own,
    `${code}/branches`,
    `${code}/branches/topic`,
    `${code}/commits?ref_name=topic`,
    `${code}/commits/topic`,
    `${code}/commits/topic/diff`,
    `${code}/tree?ref=topic`,
    `${code}/files/README.md?ref=topic`,
    `${code}/files/README.md/raw?ref=topic`,
    `${code}/compare?from=main&to=topic`,
  ];
});
after(async () => {
  process.execArgv.splice(process.execArgv.indexOf(flag), 1);
  await gantry.close();
  rmSync(folder, { recursive: true });
});

const readAll = async (): Promise<void> => {
  for (const path of paths) {
    const { status, text } = await gantry.api(`GET ${path}`);
    assert.equal(status, 200, `${path}: ${text}`);
  }
};

/** Processes started for this service's repositories, not for those of other services. */
const started = (): string[] => {
  const { data } = gantry.service.platform.config;
  return readFileSync(noted, 'utf8')
    .split('\n')
    .filter((line) => line.includes(data));
};

test('starts no git process for JSON reads once the long-lived ones run', async () => {
  await readAll();
  const before = started();
  assert.ok(
    before.some((line) => line.includes('cat-file')),
    'what is started is noted',
  );
  await readAll();
  assert.deepEqual(started().slice(before.length), []);
});
