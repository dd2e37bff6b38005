/** Libraries that read webhooks parse every payload of `docs/webhook_payloads.json`. Skips what is not installed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { installPythonPackage } from './python_package.ts';
import { javaProgram } from './typed_answers/java_program.ts';

const text = readFileSync(join(import.meta.dirname, '../../docs/webhook_payloads.json'), 'utf8');
const payloads = JSON.parse(text) as Record<string, { event: string; payload: unknown }>;
const names = Object.keys(payloads);
const folder = join(import.meta.dirname, 'webhook_receivers');

const run = (command: string, args: string[], { cwd = folder, input = '', env = process.env } = {}) =>
  spawnSync(command, args, { cwd, input, env, encoding: 'utf8' });

/** What a library made of each payload, by name. */
const parseLines = (output: string): Map<string, string> =>
  new Map(
    output
      .trim()
      .split('\n')
      .map((line): [string, string] => {
        const [name = '', parsed = ''] = line.split('\t');
        return [name, parsed];
      }),
  );

const typesByKind: [start: string, type: string][] = [
  ['push', '*gitlab.PushEvent'],
  ['tag_push', '*gitlab.TagEvent'],
  ['issue', '*gitlab.IssueEvent'],
  ['merge_request', '*gitlab.MergeEvent'],
  ['note: on a commit', '*gitlab.CommitCommentEvent'],
  ['note: on a merge', '*gitlab.MergeCommentEvent'],
  ['note: on an issue', '*gitlab.IssueCommentEvent'],
  ['pipeline', '*gitlab.PipelineEvent'],
  ['build', '*gitlab.JobEvent'],
  ['deployment', '*gitlab.DeploymentEvent'],
  ['release', '*gitlab.ReleaseEvent'],
  ['user_add_to_team', '*gitlab.MemberEvent'],
  ['user_create', '*gitlab.UserSystemEvent'],
  ['repository_update', '*gitlab.RepositoryUpdateSystemEvent'],
];

test('the client library of Go', (context) => {
  const cwd = join(folder, 'go');
  if (run('go', ['version']).error !== undefined) return context.skip('go is not installed');
  const got = run('go', ['mod', 'download'], { cwd });
  if (got.status !== 0) return context.skip('the module cannot be downloaded');
  const { status, stdout, stderr } = run('go', ['run', '.'], { cwd, input: text });
  assert.equal(status, 0, stderr);
  const parsed = parseLines(stdout);
  assert.deepEqual(
    names.filter((name) => !parsed.get(name)?.startsWith('*gitlab.')).map((name) => parsed.get(name)),
    [],
  );
  for (const [start, type] of typesByKind)
    for (const name of names.filter((one) => one === start || one.startsWith(`${start}:`)))
      assert.equal(parsed.get(name), type, name);
});

/** Events that this library does not know in any release. */
const unknownInJava = /^emoji|_(?:team|group)$/;

test('the client library of Java', (context) => {
  const program = javaProgram();
  if (program === null) return context.skip('Maven, or the library, is not there');
  const input = Object.entries(payloads).map(([name, { event, payload }]) => ({
    name,
    type: event === 'System Hook' ? 'systemhooks.SystemHookEvent' : 'webhook.Event',
    body: payload,
  }));
  const { command, args, cwd } = program;
  const { status, stdout, stderr } = run(command, args, { cwd, input: JSON.stringify(input) });
  assert.equal(status, 0, stderr);
  const failed = [...parseLines(stdout)].filter(
    ([name, parsed]) => parsed !== 'decoded' && !unknownInJava.test(name),
  );
  assert.deepEqual(failed, []);
});

/**
 * What the models of this library do not have: system hooks and confidential subjects, which they do not know, and
 * values that they demand, such as the commit of a deleted ref, the description of a snippet, and the end of a role.
 */
const notModelled =
  /: deleted|confidential|snippet|^(?:emoji|build|key|project|group|repository)|^pipeline: success|^user_(?!update_for_group)/;

test('the models of Pydantic', (context) => {
  const packages = installPythonPackage('pydantic-gitlab-webhooks', '0.3.54');
  if (packages === null) return context.skip('pydantic-gitlab-webhooks cannot be installed');
  const env = { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' };
  const { status, stdout, stderr } = run('python3', ['parse.py'], { input: text, env });
  assert.equal(status, 0, stderr);
  const failed = [...parseLines(stdout)].filter(([, parsed]) => parsed.startsWith('failed'));
  assert.deepEqual(
    failed.filter(([name]) => !notModelled.test(name)),
    [],
  );
  assert.deepEqual(
    failed.map(([name]) => name),
    names.filter((name) => notModelled.test(name)),
  );
});
