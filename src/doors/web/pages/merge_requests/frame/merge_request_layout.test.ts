/** Tests the frame of the pages of a merge request: who sees them, and what header and tabs show. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type Coded,
  openRequest,
  seedBranch,
  seedCoded,
} from '../../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../../test/support/visitor.ts';
import { countDiffLines } from '../../../../../review/merge_requests/versions/line_counts.ts';

let gantry: TestService;
let project: Coded;
let developer: SeededVisitor;
let stranger: SeededVisitor;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  developer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  stranger = await seedVisitor(gantry);
  await seedBranch(gantry, project, 'keep-loads', { files: { 'a.txt': 'one\ntwo\n', 'README.md': 'New\n' } });
  await openRequest(gantry, project, 'keep-loads', { title: 'Keep <i>loads</i>' });
});
after(async () => await gantry.close());

test('shows the state, the branches and the counts of the tabs on every page', async () => {
  const path = `/${project.full_path}/merge_requests/1`;
  for (const below of ['', '/commits', '/pipelines', '/diffs']) {
    const { status, text } = await developer.visitor.get(path + below);
    assert.equal(status, 200, below);
    assert.match(text, /<h1[^>]*>Keep &lt;i&gt;loads&lt;\/i&gt; <span class="muted number">!1<\/span><\/h1>/);
    assert.match(text, /Open<\/span>[\s\S]+wants to merge <b>1 commit<\/b> from[\s\S]+keep-loads[\s\S]+into/);
    assert.match(text, /Commits <span class="count">1<\/span>/);
    assert.match(
      text,
      /Changes <span class="count">2<\/span> <span[^>]+>\+3<\/span> <span[^>]+>&minus;1<\/span>/,
    );
  }
});

test('shows public merge requests to everybody, and hides others as if they were missing', async () => {
  const anonymous = openVisitor(gantry);
  const open = `/${project.full_path}/merge_requests`;
  for (const path of [open, `${open}/1`, `${open}/1/diffs`]) {
    assert.equal((await anonymous.get(path)).status, 200, path);
    assert.equal((await stranger.visitor.get(path)).status, 200, path);
  }
  assert.equal((await stranger.visitor.get(`${open}/2`)).status, 404);
  const hidden = await seedCoded(gantry, { visibility: 'private' });
  const off = await seedCoded(gantry, { visibility: 'public' }, { merge_requests_access_level: 'disabled' });
  for (const { full_path } of [hidden, off]) {
    for (const below of ['', '/1', '/1/commits', '/1/pipelines', '/1/diffs']) {
      const path = `/${full_path}/merge_requests${below}`;
      assert.equal((await stranger.visitor.get(path)).status, 404, path);
      assert.match((await anonymous.get(path)).location ?? '', /^\/users\/sign_in/, path);
    }
  }
});

test('counts the changed lines of a diff, not its header', () => {
  assert.deepEqual(countDiffLines('--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-- a\n same\n+++ b\n-c\n'), {
    additions: 1,
    deletions: 2,
  });
  assert.deepEqual(countDiffLines('@@ -0,0 +1 @@\n+a\n\\ No newline at end of file'), {
    additions: 1,
    deletions: 0,
  });
  assert.deepEqual(countDiffLines('Binary files a/x and b/x differ\n'), { additions: 0, deletions: 0 });
});
