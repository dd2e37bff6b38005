/** semantic-release with its GitLab plugin, unmodified, as a program: it pushes a tag and makes a release of it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type WorkTree, gitEnvironment, newWorkTree, repositoryUrl } from '../support/repositories/git.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';

const modules = join(import.meta.dirname, '../../node_modules');

let gantry: TestService;
let tree: WorkTree;

before(async () => {
  gantry = await startTestService();
  tree = await newWorkTree();
});
after(async () => {
  await gantry.close();
  await tree.remove();
});

const release = async (): Promise<{ code: number; output: string }> =>
  await new Promise((resolve) => {
    const env = {
      ...gitEnvironment(),
      HOME: tree.path,
      GITLAB_CI: '1',
      CI_COMMIT_REF_NAME: 'main',
      CI_COMMIT_BRANCH: 'main',
      CI_PROJECT_DIR: tree.path,
      GITLAB_TOKEN: rootToken,
      GITLAB_URL: gantry.url,
    };
    const args = [join(modules, '.bin/semantic-release')];
    execFile(process.execPath, args, { cwd: tree.path, env, timeout: 180_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, output: `${stdout}${stderr}` });
    });
  });

const settings = (url: string) => ({
  name: 'engine',
  version: '0.0.0',
  private: true,
  release: {
    branches: ['main'],
    repositoryUrl: url,
    plugins: [
      '@semantic-release/commit-analyzer',
      '@semantic-release/release-notes-generator',
      [
        '@semantic-release/gitlab',
        { gitlabUrl: gantry.url, assets: [{ path: 'turn.txt', label: 'The turn' }] },
      ],
    ],
  },
});

test('a release is made of what was merged, and its merge request and issue are told', async () => {
  const api = async (line: string, json?: unknown) => {
    const { status, body, text } = await gantry.api(line, { json });
    assert.ok(status < 300, `${line}: ${status} ${text}`);
    return body;
  };
  await api('POST /projects', { name: 'engine' });
  const project = '/projects/root%2Fengine';
  const url = `${gantry.url}/root/engine.git`;
  await tree.commit('chore: begin', {
    'package.json': JSON.stringify(settings(url)),
    '.gitignore': 'node_modules\n',
  });
  await tree.git('remote', 'add', 'origin', repositoryUrl(gantry.url, 'root/engine', rootToken));
  await tree.git('push', '--quiet', '--set-upstream', 'origin', 'main');
  await api(`POST ${project}/issues`, { title: 'It does not turn' });
  await api(`POST ${project}/repository/commits`, {
    branch: 'turn',
    start_branch: 'main',
    commit_message: 'feat: it turns\n\nCloses #1',
    actions: [{ action: 'create', file_path: 'turn.txt', content: 'round\n' }],
  });
  await api(`POST ${project}/merge_requests`, {
    source_branch: 'turn',
    target_branch: 'main',
    title: 'Turn',
  });
  await api(`PUT ${project}/merge_requests/1/merge`);
  await tree.git('pull', '--quiet');
  await symlink(modules, join(tree.path, 'node_modules'));

  const { code, output } = await release();
  assert.equal(code, 0, output);
  const made = await api(`GET ${project}/releases/v1.0.0`);
  assert.equal(made.tag_name, 'v1.0.0');
  assert.match(made.description, /it turns/);
  assert.equal(made.assets.links[0].name, 'The turn');
  const tag = await api(`GET ${project}/repository/tags/v1.0.0`);
  assert.equal(tag.commit.id, await tree.git('rev-parse', 'HEAD'));
  const notes = (await api(`GET ${project}/merge_requests/1/notes`)) as { body: string }[];
  assert.ok(
    notes.some(({ body }) => body.includes('v1.0.0')),
    output,
  );
  const onIssue = (await api(`GET ${project}/issues/1/notes`)) as { body: string }[];
  assert.ok(
    onIssue.some(({ body }) => body.includes('v1.0.0')),
    output,
  );
});
