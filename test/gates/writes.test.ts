/**
 * The cost of the usual writes, counted instead of timed: statements of a new issue, an edit and a comment, in a
 * project with labels, a milestone and members. A change that needs fewer lowers the number.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { countStatements } from '../support/request_log.ts';
import { seedGroup, seedMember, seedProject, seedUser } from '../support/seed.ts';
import { type TestService, engine, startTestService } from '../support/service.ts';

/** On SQLite, which keeps the token, the project, labels, the milestone and users in memory. */
const most = { create: 11, edit: 9, comment: 7 };

let gantry: TestService;
let issues: string;
let author: { id: number; token: string };
let assignee: { id: number };
let milestone_id: number;

before(async () => {
  if (engine !== 'sqlite') return;
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'info' });
  const group = await seedGroup(gantry);
  const project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  issues = `/projects/${project.id}/issues`;
  [author, assignee] = [await seedUser(gantry), await seedUser(gantry)];
  for (const { id } of [author, assignee])
    await seedMember(gantry, { user: id, group: group.id, access_level: 30 });
  for (const name of ['bug', 'urgent'])
    await gantry.api(`POST /projects/${project.id}/labels`, { json: { name, color: '#fff' } });
  const { body } = await gantry.api(`POST /projects/${project.id}/milestones`, { json: { title: 'v1' } });
  milestone_id = Number(body.id);
  // The use of a token is recorded after the first request with it.
  await gantry.api('GET /version', { as: author.token });
  await gantry.service.platform.store.write(async () => undefined);
});
after(async () => {
  if (engine === 'sqlite') await gantry.close();
});

const send = async (line: string, json: object): Promise<{ headers: Headers }> => {
  const reply = await gantry.api(line, { as: author.token, json });
  assert.ok(reply.status < 300, `${line}: ${reply.status} ${reply.text}`);
  return reply;
};

const createIssue = async (): Promise<{ headers: Headers }> =>
  await send(`POST ${issues}`, {
    title: 'It stops',
    description: 'It should continue.',
    labels: 'bug,urgent',
    assignee_ids: [assignee.id],
    milestone_id,
  });

let edits = 0;

test('writes an issue, an edit and a comment in few statements', { skip: engine !== 'sqlite' }, async () => {
  const counted = {
    create: await countStatements(gantry, createIssue),
    edit: await countStatements(gantry, async () => {
      edits += 1;
      return await send(`PUT ${issues}/1`, { title: `It stops, ${edits} times` });
    }),
    comment: await countStatements(
      gantry,
      async () => await send(`POST ${issues}/1/notes`, { body: 'Seen' }),
    ),
  };
  for (const [name, count] of Object.entries(counted))
    assert.ok(count <= most[name as keyof typeof most], `${name}: ${JSON.stringify(counted)}`);
});
