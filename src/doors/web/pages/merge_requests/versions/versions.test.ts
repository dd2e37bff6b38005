/** Tests the Versions tab: each push with its time, pusher, commits and comparisons. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  type Coded,
  openRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: Coded;
let developer: SeededVisitor;
let path: string;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  developer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  await seedBranch(gantry, project, 'topic', { files: { 'a.txt': 'one\n' } });
  const { iid } = await openRequest(gantry, project, 'topic');
  path = `/${project.full_path}/merge_requests/${iid}`;
  const { status, text } = await gantry.api(`POST /projects/${project.id}/repository/commits`, {
    json: {
      sudo: developer.username,
      branch: 'topic',
      commit_message: 'More',
      actions: [{ action: 'create', file_path: 'b.txt', content: 'two\n' }],
    },
  });
  assert.equal(status, 201, text);
  await settle(gantry);
});
after(async () => await gantry.close());

const rowsOf = (text: string): string[] =>
  text
    .split('<tr>')
    .slice(2)
    .map((row) => row.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' '));

test('lists the pushes, the newest first, with who pushed', async () => {
  const { status, text } = await developer.visitor.get(`${path}/versions`);
  assert.equal(status, 200);
  const [second, first, ...others] = rowsOf(text);
  assert.equal(others.length, 0);
  assert.match(
    second ?? '',
    new RegExp(`Version 2 latest .*${developer.username}.* 2 2 with version 1 · with main`),
  );
  assert.match(first ?? '', /Version 1 .* 1 1 with main/);
  assert.match(text, /Versions <span class="count">2<\/span>/);
  assert.match(text, /<a href="[^"]+\/versions">2 versions<\/a>/);
});

test('compares a version with the one before it, across pages', async () => {
  const { text } = await developer.visitor.get(`${path}/versions?per_page=1`);
  const [row = '', ...others] = text.split('<tr>').slice(2);
  assert.equal(others.length, 0);
  const link = /href="([^"]+)" aria-label="Compare version 2 with version 1"/.exec(row)?.[1] ?? '';
  const compared = await developer.visitor.get(link.replaceAll('&amp;', '&'));
  assert.equal(compared.status, 200);
  assert.match(compared.text, /data-path="b.txt"/);
  assert.doesNotMatch(compared.text, /data-path="a.txt"/);
});

test('offers a link past the frame to the diff', async () => {
  const { text } = await developer.visitor.get(`${path}/diffs`);
  assert.match(text, /<a class="skip" href="#files">Skip to the diff<\/a>[\s\S]+id="files" tabindex="-1"/);
});

test('hides the versions of hidden merge requests', async () => {
  const hidden = await seedCoded(gantry, { visibility: 'private' });
  const { status } = await developer.visitor.get(`/${hidden.full_path}/merge_requests/1/versions`);
  assert.equal(status, 404);
});

test('serves the changes as a diff, and as patches that git applies', async () => {
  const diff = await openVisitor(gantry).get(`${path}.diff`);
  assert.deepEqual(
    [diff.status, diff.headers.get('content-type'), diff.headers.get('x-content-type-options')],
    [200, 'text/plain; charset=utf-8', 'nosniff'],
  );
  assert.match(diff.text, /^diff --git a\/a\.txt b\/a\.txt\n[^]*diff --git a\/b\.txt/);
  const { text: patches } = await developer.visitor.get(`${path}.patch`);
  assert.match(patches, /^From [\da-f]{40} [^]*Subject: \[PATCH 1\/2\] [^]*Subject: \[PATCH 2\/2\] More\n/);
  const folder = mkdtempSync(join(tmpdir(), 'patches-'));
  try {
    const git = (args: string[], input = ''): string =>
      execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], {
        cwd: folder,
        input,
        encoding: 'utf8',
      });
    git(['init', '--quiet']);
    git(['commit', '--quiet', '--allow-empty', '--message', 'Base']);
    git(['am', '--quiet'], patches);
    assert.equal(git(['ls-files']), 'a.txt\nb.txt\n');
    assert.match(git(['log', '--format=%s']), /^More\n.+\nBase\n$/);
  } finally {
    rmSync(folder, { recursive: true });
  }
  const { text } = await developer.visitor.get(path);
  assert.ok(text.includes(`href="${path}.diff"`) && text.includes(`href="${path}.patch"`));
});

test('hidden and missing changes answer alike, and other addresses are missing', async () => {
  const hidden = await seedCoded(gantry, { visibility: 'private' });
  await seedBranch(gantry, hidden, 'topic');
  const { iid } = await openRequest(gantry, hidden, 'topic');
  const missing = await developer.visitor.get('/no-such/project/merge_requests/1.diff');
  const { status, text } = await developer.visitor.get(`/${hidden.full_path}/merge_requests/${iid}.diff`);
  assert.deepEqual([status, text], [404, missing.text]);
  for (const end of ['.txt', 'x', '.diff.patch', '00000000000000000000.diff'])
    assert.equal((await developer.visitor.get(`${path}${end}`)).status, 404, end);
  assert.equal((await developer.visitor.get(`/${project.full_path}/merge_requests/99.patch`)).status, 404);
});
