/** Tests commit statuses of other systems on the page of a pipeline. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPushed } from '../../../../../test/support/ci/pipelines.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

test('shows external statuses of a pipeline, and cancels it', async () => {
  const project = await seedPushed(gantry);
  const sha = await project.push({ 'README.md': 'Read me' });
  const json = { state: 'running', name: '<b>jenkins', description: 'Step <1>' };
  const target_url = 'https://ci.example.com/1?a="b"';
  const { body } = await gantry.api(`POST ${project.path}/statuses/${sha}`, {
    json: { ...json, target_url },
  });
  const { visitor } = await seedVisitor(gantry, { project: project.id, access_level: 40 });
  const path = `/${project.full_path}/-/pipelines/${body.pipeline_id}`;
  const { status, text } = await visitor.get(path);
  assert.equal(status, 200);
  assert.ok(
    text.includes(
      '<a href="https://ci.example.com/1?a=&quot;b&quot;" rel="noopener noreferrer nofollow">&lt;b&gt;jenkins</a>',
    ),
    text,
  );
  assert.match(text, /<td>Step &lt;1&gt;<\/td>/);
  assert.match(text, /Running/);
  assert.match(text, /Cancel the pipeline/);
  assert.equal((await visitor.post(`${path}/cancel`)).status, 303);
  const after = (await visitor.get(path)).text;
  assert.match(after, /Canceled/);
  assert.doesNotMatch(after, /Running|Cancel the pipeline/);
});
