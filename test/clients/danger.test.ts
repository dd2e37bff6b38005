/** danger, unmodified, as a program: it reviews a merge request and comments on it, on a line of it, too. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type TestService, rootToken, startTestService } from '../support/service.ts';

const bin = join(import.meta.dirname, '../../node_modules/.bin/danger');

let gantry: TestService;
let folder: string;

before(async () => {
  gantry = await startTestService();
  folder = await mkdtemp(join(tmpdir(), 'gantry-danger-'));
});
after(async () => {
  await gantry.close();
  await rm(folder, { recursive: true });
});

const ok = async (line: string, json?: unknown) => {
  const { status, body, text } = await gantry.api(line, { json });
  assert.ok(status < 300, `${line}: ${status} ${text}`);
  return body;
};

const danger = async (): Promise<{ code: number; output: string }> =>
  await new Promise((resolve) => {
    const env = {
      PATH: process.env['PATH'],
      HOME: folder,
      GITLAB_CI: '1',
      CI_API_V4_URL: `${gantry.url}/api/v4`,
      CI_PROJECT_PATH: 'root/engine',
      CI_MERGE_REQUEST_IID: '1',
      DANGER_GITLAB_HOST: gantry.url,
      DANGER_GITLAB_API_TOKEN: rootToken,
    };
    const args = [bin, 'ci', '--verbose', '--dangerfile', 'dangerfile.js'];
    execFile(process.execPath, args, { cwd: folder, env, timeout: 120_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, output: `${stdout}${stderr}` });
    });
  });

const dangerfile = `
const { danger, warn, message, fail } = require('danger');
const { mr } = danger.gitlab;
message('The request is called ' + mr.title);
warn('Changed: ' + danger.git.modified_files.join() + '; new: ' + danger.git.created_files.join());
if (danger.git.commits.length !== 1) fail('one commit, please');
warn('This line is odd', 'README.md', 2);
`;

test('danger comments on a merge request, and again on the same comment', async () => {
  await ok('POST /projects', { name: 'engine' });
  const files = '/projects/root%2Fengine/repository';
  await ok(`POST ${files}/files/README.md`, { branch: 'main', content: 'one\n', commit_message: 'First' });
  await ok(`POST ${files}/commits`, {
    branch: 'turn',
    start_branch: 'main',
    commit_message: 'Turn',
    actions: [
      { action: 'update', file_path: 'README.md', content: 'one\ntwo\n' },
      { action: 'create', file_path: 'turn.txt', content: 'x\n' },
    ],
  });
  const requests = '/projects/root%2Fengine/merge_requests';
  await ok(`POST ${requests}`, { source_branch: 'turn', target_branch: 'main', title: 'Turn it' });
  await writeFile(join(folder, 'dangerfile.js'), dangerfile);

  const first = await danger();
  assert.equal(first.code, 0, first.output);
  const texts = async (): Promise<string[]> =>
    ((await ok(`GET ${requests}/1/notes`)) as { body: string }[]).map(({ body }) => body);
  const said = (await texts()).join('\n');
  assert.match(said, /The request is called Turn it/);
  assert.match(said, /Changed: README\.md; new: turn\.txt/);
  const discussions = (await ok(`GET ${requests}/1/discussions`)) as {
    notes: { position?: object; body: string }[];
  }[];
  const onLine = discussions
    .flatMap(({ notes }) => notes)
    .find(({ body }) => body.includes('This line is odd'));
  assert.deepEqual(
    { new_path: 'README.md', new_line: 2, ...onLine?.position },
    { ...onLine?.position, new_path: 'README.md', new_line: 2 },
  );
  assert.ok(onLine?.position !== undefined && onLine.position !== null);

  const count = (await texts()).length;
  const second = await danger();
  assert.equal(second.code, 0, second.output);
  assert.equal((await texts()).length, count);
});
