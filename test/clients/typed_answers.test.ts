/**
 * The typed client libraries of Go and Java decode what the API answers: a number where they expect a text would fail.
 * Skips what is not installed.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fill } from '../../tools/seed/fill.ts';
import { settle } from '../support/seed_merge_requests.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';
import { type Program, javaProgram } from './typed_answers/java_program.ts';
import { type Row, answerRows, makeRecords } from './typed_answers/rows.ts';

type Answer = { name: string; go: string; java: string | null; body: unknown };

let gantry: TestService;
let answers: Answer[];

const read = async ({ path, go, java }: Row): Promise<Answer> => {
  const { status, body, text } = await gantry.api(`GET ${path}`);
  assert.equal(status, 200, `${path}: ${text}`);
  if (go.startsWith('[]')) assert.ok(body.length > 0, `${path} is empty`);
  return { name: path, go, java, body };
};

before(async () => {
  // The library of Go reads the decimal of the settings as a text.
  gantry = await startTestService({ GANTRY_COMPAT: 'decimal-strings' });
  await fill({ url: gantry.url, token: rootToken, password: 'planks and posts' });
  await settle(gantry);
  const records = await makeRecords(gantry);
  answers = [];
  for (const row of answerRows(records)) answers.push(await read(row));
});
after(async () => await gantry.close());

const folder = join(import.meta.dirname, 'typed_answers');

/** Lists the answers that a program cannot decode. */
const listFailures = ({ cwd, command, args }: Program, typeOf: (answer: Answer) => string | null) => {
  const input = answers.flatMap((answer) => {
    const type = typeOf(answer);
    return type === null ? [] : [{ name: answer.name, type, body: answer.body }];
  });
  const ended = spawnSync(command, args, { cwd, input: JSON.stringify(input), encoding: 'utf8' });
  assert.equal(ended.status, 0, ended.stderr);
  const lines = ended.stdout.trim().split('\n');
  assert.equal(lines.length, input.length);
  return lines.filter((line) => !line.endsWith('\tdecoded'));
};

test('the client library of Go decodes every answer', (context) => {
  const cwd = join(folder, 'go');
  const got = spawnSync('go', ['mod', 'download'], { cwd });
  if (got.status !== 0) return context.skip('go, or the module of the library, is not there');
  assert.deepEqual(
    listFailures({ cwd, command: 'go', args: ['run', '.'] }, ({ go }) => go),
    [],
  );
});

test('the client library of Java decodes every answer', (context) => {
  const program = javaProgram();
  if (program === null) return context.skip('Maven, or the library, is not there');
  assert.deepEqual(
    listFailures(program, ({ java }) => java?.replace(/^(?:\[\])?/, '$&models.') ?? null),
    [],
  );
});
