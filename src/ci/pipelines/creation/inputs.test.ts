import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Pushed, seedPushed } from '../../../../test/support/ci/pipelines.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
let project: Pushed;

const config = `
spec:
  inputs:
    where: { options: [here, there] }
    times: { type: number, default: 1 }
    names: { type: array, default: [] }
    loud: { type: boolean, default: false }
---
go to $[[ inputs.where ]]:
  script:
    - go $[[ inputs.times ]] $[[ inputs.loud ]]
  tags: $[[ inputs.names ]]
`;

before(async () => {
  gantry = await startTestService();
  project = await seedPushed(gantry);
  await project.push({ '.gitlab-ci.yml': config });
});
after(async () => await gantry.close());

const run = async (inputs: unknown, more: object = {}) =>
  await gantry.api(`POST ${project.path}/pipeline`, { json: { ref: 'main', inputs, ...more } });

const jobsOf = async (pipeline: number) => {
  const { body } = await gantry.api(`GET ${project.path}/pipelines/${pipeline}/jobs`);
  return body.map(({ name, tag_list }: { name: string; tag_list: string[] }) => [name, tag_list]);
};

test('passes inputs from the creator of a pipeline to its configuration', async () => {
  const made = await run({ where: 'there', names: ['big', 'fast'], times: 2, loud: true });
  assert.deepEqual([made.status, made.body.source], [201, 'api'], made.text);
  assert.deepEqual(await jobsOf(made.body.id), [['go to there', ['big', 'fast']]]);
  const form = await gantry.api(`POST ${project.path}/pipeline?ref=main&inputs[where]=here`);
  assert.equal(form.status, 201, form.text);
  assert.deepEqual(await jobsOf(form.body.id), [['go to here', []]]);
});

test('passes inputs from the caller of a trigger token', async () => {
  const { body } = await gantry.api(`POST ${project.path}/triggers`, { json: { description: 'x' } });
  const made = await gantry.api(`POST ${project.path}/trigger/pipeline`, {
    as: null,
    json: { ref: 'main', token: body.token, inputs: { where: 'there' } },
  });
  assert.deepEqual([made.status, made.body.source], [201, 'trigger'], made.text);
  assert.deepEqual(await jobsOf(made.body.id), [['go to there', []]]);
});

test('creates no pipeline for undeclared or invalid inputs', async () => {
  const before = (await project.pipelines()).length;
  const refused = async (inputs: unknown): Promise<string> => {
    const { status, body, text } = await run(inputs);
    assert.equal(status, 400, text);
    return JSON.stringify(body.message);
  };
  assert.match(await refused(undefined), /`where` input: required value has not been provided/);
  assert.match(await refused({ times: 3 }), /`where` input: required value has not been provided/);
  assert.match(await refused({ where: 'nowhere' }), /not in the list of allowed options/);
  assert.match(await refused({ where: 'here', times: 'x' }), /provided value is not a number/);
  assert.match(await refused({ where: 'here', who: 'x' }), /unknown input arguments: who/);
  assert.deepEqual((await project.pipelines()).length, before);
});

test('refuses malformed inputs', async () => {
  for (const [inputs, said] of [
    ['where', 'is invalid'],
    [['here'], 'is invalid'],
    [{ where: { in: 'here' } }, '"where" is invalid'],
    [{ where: null }, '"where" is invalid'],
    [{ where: 'a\0b' }, '"where" is invalid'],
    [{ 'a b': 'x' }, '"a b" is invalid'],
    [{ where: 'x'.repeat(70_000) }, 'are too long'],
    [
      Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`n${at}`, 1])),
      'are too many (maximum is 100)',
    ],
  ] as const) {
    const { status, body } = await run(inputs);
    assert.deepEqual([status, body], [400, { message: { inputs: [said] } }]);
  }
});
