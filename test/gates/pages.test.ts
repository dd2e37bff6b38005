/** The cost of a warm page, counted instead of timed: statements per request. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { countStatements } from '../support/request_log.ts';
import { type Coded, openRequest, seedBranch, seedCoded } from '../support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../support/seed_visitor.ts';
import { type TestService, engine, startTestService } from '../support/service.ts';

let gantry: TestService;
let project: Coded;
let developer: SeededVisitor;

before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'info' });
  project = await seedCoded(gantry, { visibility: 'private' });
  developer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  await seedBranch(gantry, project, 'topic', { files: { 'a.txt': 'one\n' } });
  await openRequest(gantry, project, 'topic');
  const issues = `/projects/${project.id}/issues`;
  await gantry.api(`POST ${issues}`, { json: { title: 'One', description: 'See #1', labels: 'bug' } });
  for (let at = 0; at < 20; at += 1)
    await gantry.api(`POST ${issues}/1/notes`, { json: { body: `Comment ${at}` } });
});
after(async () => await gantry.close());

const statementsOf = async (path: string): Promise<number> =>
  await countStatements(gantry, async () => {
    const reply = await developer.visitor.get(path);
    assert.equal(reply.status, 200, path);
    return reply;
  });

/** Most statements of a warm page. On PostgreSQL nothing is kept until it changes. */
const most: Record<string, { sqlite: number; postgres: number }> = {
  '': { sqlite: 9, postgres: 14 },
  '/issues': { sqlite: 6, postgres: 8 },
  '/issues/1': { sqlite: 15, postgres: 27 },
  '/merge_requests/1': { sqlite: 24, postgres: 37 },
  '/merge_requests/1/diffs': { sqlite: 12, postgres: 16 },
};

test('pages of a project take few statements once they are warm', async () => {
  const found: Record<string, number> = {};
  for (const [below, counts] of Object.entries(most)) {
    const statements = await statementsOf(`/${project.full_path}${below}`);
    if (statements > counts[engine]) found[below] = statements;
  }
  assert.deepEqual(found, {});
});

test('long pages have no character beyond Latin-1, which would double the time to encode them', async () => {
  const emoji = await gantry.api(`POST /projects/${project.id}/issues/1/award_emoji`, {
    json: { name: 'tada' },
  });
  assert.equal(emoji.status, 201, emoji.text);
  const wide: Record<string, string> = {};
  for (const below of Object.keys(most)) {
    const { text } = await developer.visitor.get(`/${project.full_path}${below}`);
    const found = /[\u{100}-\u{10ffff}]/u.exec(text);
    if (found !== null) wide[below] = text.slice(Math.max(0, found.index - 100), found.index + 10);
  }
  assert.deepEqual(wide, {});
});
