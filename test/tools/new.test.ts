/** `npm run new` prints the parts of a new endpoint. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { NewFailure, scaffoldEndpoint } from '../../tools/new/endpoint.ts';

const root = join(import.meta.dirname, '../..');
const subscribers = { method: 'GET', resource: 'issues', name: 'subscribers' };

const blockOf = (title: string): string[] => {
  const text = readFileSync(join(root, 'test/access/expected.txt'), 'utf8');
  const head = text.split('\n').find((line) => line.startsWith(`${title} `)) ?? '';
  return head.split(/\s{2,}/).slice(1);
};

test('a declaration whose imports exist, below the path of the resource', async () => {
  const { declaration } = scaffoldEndpoint(subscribers);
  assert.match(declaration, /^\/\/ src\/planning\/issues\/routes\.ts/);
  assert.ok(declaration.includes(`path: '/projects/:id/issues/:issue_iid/subscribers'`), declaration);
  assert.ok(declaration.includes(`object({ id: idOrPath('project'), issue_iid: id(), ...pageParams })`));
  const imports = [...declaration.matchAll(/^import \{ (.+) \} from '(\.\.\/.+)';/gm)];
  assert.equal(imports.length, 3);
  for (const [, names = '', path = ''] of imports) {
    const module = (await import(join(root, 'src/planning/issues', path))) as object;
    for (const name of names.split(', ')) assert.ok(name in module, `${name} of ${path}`);
  }
});

test('a row of the access table with one ? for each person of its block', () => {
  const { row } = scaffoldEndpoint(subscribers);
  const [where = '', columns = '', line = ''] = row.split('\n');
  assert.ok(where.includes('in the block [issue]'), where);
  assert.deepEqual(columns.trim().split(/\s{2,}/), blockOf('[issue]'));
  const [method, path, ...cells] = line.split(/\s+/);
  assert.deepEqual([method, path], ['GET', '/projects/:id/issues/:issue_iid/subscribers']);
  assert.deepEqual(new Set(cells), new Set(['?']));
  assert.equal(cells.length, blockOf('[issue]').length);
});

test('a test that sends the request, with the status of the method', () => {
  const { test: text } = scaffoldEndpoint({ method: 'POST', resource: 'pipelines', name: 'hold' });
  assert.match(text, /^\/\/ src\/ci\/pipelines\/hold\.test\.ts/);
  assert.ok(text.includes(`from '../../../test/support/service.ts'`), text);
  assert.ok(text.includes(`gantry.api('POST /projects/1/pipelines/1/hold')`), text);
  assert.ok(text.includes('reply.status, 201'), text);
});

test('what cannot be added is refused', () => {
  const refused = (change: object, message: RegExp): void =>
    assert.throws(
      () => scaffoldEndpoint({ ...subscribers, ...change }),
      (error) => error instanceof NewFailure && message.test(error.message),
    );
  refused({ name: 'participants' }, /exists already/);
  refused({ resource: 'isues' }, /no resource "isues".*issues/);
  refused({ name: 'Subscribers' }, /snake_case/);
  refused({ method: 'FETCH' }, /not a method/);
});

test('the command prints the three parts, and its usage when a word is missing', async () => {
  const run = async (...args: string[]): Promise<[number | string | null | undefined, string]> =>
    await new Promise((resolve) =>
      execFile(process.execPath, [join(root, 'tools/new.ts'), ...args], (error, stdout, stderr) =>
        resolve([error?.code ?? 0, stdout + stderr]),
      ),
    );
  const { declaration, row, test: text } = scaffoldEndpoint(subscribers);
  const [code, printed] = await run('endpoint', 'issues', 'subscribers');
  assert.equal(code, 0);
  assert.ok([declaration, row, text].every((part) => printed.includes(part)));
  assert.deepEqual(
    (await run('endpoint', 'issues')).map((part) => String(part).slice(0, 9)),
    ['2', 'usage: np'],
  );
});
