import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Pushed, seedPushed } from '../../../../test/support/ci/pipelines.ts';
import { seedMember, seedUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { runSchedule } from './run_schedule.ts';

const config = `
spec:
  inputs:
    where: { options: [here, there] }
    names: { type: array, default: [] }
---
go to $[[ inputs.where ]]:
  script: go
  tags: $[[ inputs.names ]]
`;

const start = Date.UTC(2030, 5, 1, 12);
let gantry: TestService;
let project: Pushed;
let path: string;
before(async () => {
  gantry = await startTestService();
  project = await seedPushed(gantry);
  await project.push({ '.gitlab-ci.yml': config });
  path = `${project.path}/pipeline_schedules`;
});
after(async () => await gantry.close());

const usual = { description: 'Nightly', ref: 'main', cron: '0 * * * *' };

const create = async (inputs: unknown) => await gantry.api(`POST ${path}`, { json: { ...usual, inputs } });
const edit = async (id: number, inputs: unknown) =>
  await gantry.api(`PUT ${path}/${id}`, { json: { inputs } });

const lastJob = async (id: number) => {
  const { body } = await gantry.api(`GET ${path}/${id}`);
  const jobs = await gantry.api(`GET ${project.path}/pipelines/${body.last_pipeline.id}/jobs`);
  return jobs.body.map(({ name, tag_list }: { name: string; tag_list: string[] }) => [name, tag_list]);
};

test('a schedule stores inputs and passes them to its pipelines', async () => {
  gantry.setTime(start + 1);
  const inputs = [
    { name: 'where', value: 'there' },
    { name: 'names', value: ['big', 'fast'] },
  ];
  const { status, body, headers } = await create(inputs);
  assert.deepEqual([status, body.inputs], [201, inputs]);
  assert.equal(headers.get('gantry-ignored-parameters'), null);
  assert.deepEqual((await gantry.api(`GET ${path}/${body.id}`)).body.inputs, inputs);
  const reader = await seedUser(gantry);
  await seedMember(gantry, { user: reader.id, project: project.id, access_level: 20 });
  assert.equal((await gantry.api(`GET ${path}/${body.id}`, { as: reader.token })).body.inputs, undefined);

  assert.equal((await gantry.api(`POST ${path}/${body.id}/play`)).status, 201);
  assert.deepEqual(await lastJob(body.id), [['go to there', ['big', 'fast']]]);
  const edited = await edit(body.id, [
    { name: 'where', value: 'here' },
    { name: 'names', destroy: true },
  ]);
  assert.deepEqual(edited.body.inputs, [{ name: 'where', value: 'here' }]);
  assert.equal(
    (await gantry.api(`PUT ${path}/${body.id}`, { json: { description: 'x' } })).body.inputs.length,
    1,
  );
  gantry.setTime(start + 3_600_000);
  await runSchedule(gantry.service.platform, body.id);
  assert.deepEqual(await lastJob(body.id), [['go to here', []]]);
  gantry.setTime(null);
});

test('inputs are read from a form, by name', async () => {
  const form = await gantry.api(`POST ${path}`, {
    form: 'description=x&ref=main&cron=0+5+*+*+*&inputs[0][name]=where&inputs[0][value]=here',
  });
  assert.deepEqual(form.body.inputs, [{ name: 'where', value: 'here' }], form.text);
  assert.deepEqual((await create({ where: 'there' })).body.inputs, [{ name: 'where', value: 'there' }]);
  assert.deepEqual((await create([])).body.inputs, []);
});

test('invalid inputs are refused', async () => {
  const refused: [inputs: unknown, text: string][] = [
    ['x', 'is invalid'],
    [[1], 'is invalid'],
    [[{ value: 1 }], 'name is missing'],
    [[{ name: 'where' }], '"where" has no value'],
    [[{ name: 'where', value: { deep: 1 } }], '"where" is invalid'],
    [[{ name: 'a b', value: 1 }], '"a b" is invalid'],
  ];
  const { id } = (await create(undefined)).body;
  for (const [inputs, text] of refused) {
    const expected = [400, { message: { inputs: [text] } }];
    for (const reply of [await create(inputs), await edit(id, inputs)]) {
      assert.deepEqual([reply.status, reply.body], expected, JSON.stringify(inputs));
    }
  }
});
