/** `POST /projects/:id/issues/:issue_iid/clone`. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { seedMember } from '../../support/seed.ts';
import { type Issue, type Team, type World, answer, startWorld } from '../world.ts';

let world: World;
let team: Team;
let target: Team;
before(async () => {
  world = await startWorld();
  team = await world.team();
  target = await world.team();
  await seedMember(world.gantry, { user: team.reporter.id, project: target.id, access_level: 20 });
});
after(async () => await world.close());

const pathOf = ({ project_id, iid }: Issue): string => `/projects/${project_id}/issues/${iid}`;

const clone = async (issue: Issue, json: object, as = team.reporter.token) =>
  await world.api(`POST ${pathOf(issue)}/clone`, { json, as });

const notesOf = async (issue: Issue): Promise<{ body: string; system: boolean }[]> =>
  (await world.api(`GET ${pathOf(issue)}/notes?sort=asc`)).body;

const noPermission = [400, { message: 'Cannot clone issue due to insufficient permissions!' }];

it('creates an open issue of the caller with the same content', async () => {
  for (const at of [team.id, target.id])
    await world.api(`POST /projects/${at}/labels`, { json: { name: 'bug', color: '#FFAABB' } });
  const other = await world.issue(team.id);
  const issue = await world.issue(team.id, {
    title: 'Broken',
    description: `See #${other.iid}`,
    labels: 'bug,only here',
    due_date: '2030-01-02',
    confidential: true,
    assignee_ids: [team.reporter.id],
  });
  await world.api(`POST ${pathOf(issue)}/time_estimate`, { json: { duration: '1h' } });
  await world.api(`POST ${pathOf(issue)}/notes`, { json: { body: 'Why?' } });
  await world.api(`PUT ${pathOf(issue)}`, { json: { state_event: 'close' } });
  const made = await clone(issue, { to_project_id: target.id });
  assert.equal(made.status, 201, made.text);
  const { body } = made;
  assert.deepEqual(
    [body.project_id, body.title, body.state, body.labels, body.due_date, body.confidential],
    [target.id, 'Broken', 'opened', ['bug'], '2030-01-02', true],
  );
  const { full_path } = team;
  assert.deepEqual(
    [body.description, body.author.id, body.time_stats.time_estimate, body.user_notes_count],
    [`See ${full_path}#${other.iid}`, team.reporter.id, 3600, 0],
  );
  assert.deepEqual(
    body.assignees.map(({ id }: { id: number }) => id),
    [team.reporter.id],
  );
  const texts = (await notesOf(body)).map((note) => note.body);
  assert.deepEqual(
    texts.filter((text) => text.startsWith('cloned') || text === 'Why?'),
    [`cloned from ${full_path}#${issue.iid}`],
  );
  const kept = (await world.api(`GET ${pathOf(issue)}`)).body;
  assert.deepEqual([kept.state, kept.moved_to_id], ['closed', null]);
  assert.equal((await notesOf(issue)).at(-1)?.body, `cloned to ${target.full_path}#${body.iid}`);
});

it('copies the comments if asked, also within the project', async () => {
  const issue = await world.issue(team.id, { title: 'Talk', description: 'See #1' });
  const note = { body: 'As #1 says', created_at: '2020-01-01T00:00:00.000Z' };
  await world.api(`POST ${pathOf(issue)}/notes`, { json: note });
  await world.api(`PUT ${pathOf(issue)}`, { json: { title: 'Talk more' } });
  const made = await clone(issue, { to_project_id: team.id, with_notes: true });
  assert.deepEqual(
    [made.status, made.body.project_id, made.body.description, made.body.user_notes_count],
    [201, team.id, 'See #1', 1],
  );
  const notes = await notesOf(made.body);
  assert.deepEqual(
    notes.filter(({ system }) => !system).map(({ body }) => body),
    ['As #1 says'],
  );
  assert.equal(
    notes.some(({ body }) => body.startsWith('changed title')),
    false,
  );
});

it('refuses those who are not reporters of both projects', async () => {
  const issue = await world.issue(team.id);
  const hidden = await world.project({ visibility: 'private' });
  const json = { to_project_id: target.id };
  assert.deepEqual(answer(await clone(issue, json, team.guest.token)), noPermission);
  assert.deepEqual(answer(await clone(issue, json, team.developer.token)), noPermission);
  for (const to_project_id of [hidden.id, 999_999])
    assert.deepEqual(answer(await clone(issue, { to_project_id })), noPermission);
  assert.deepEqual(answer(await clone(issue, {})), [
    400,
    { message: '400 (Bad request) "to_project_id" not given' },
  ]);
});

it('hides the place of the other issue from those who cannot see it, and keeps quick actions as text', async () => {
  const shown = await world.team({ visibility: 'public' });
  const hidden = await world.team({ visibility: 'private' });
  await seedMember(world.gantry, { user: shown.reporter.id, project: hidden.id, access_level: 20 });
  const issue = await world.issue(shown.id, { title: 'Open' });
  const description = '/title Renamed\n/spend 1h';
  await world.api(`PUT ${pathOf(issue)}`, { json: { description } });
  const made = await clone(issue, { to_project_id: hidden.id }, shown.reporter.token);
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(
    [made.body.title, made.body.description, made.body.time_stats.total_time_spent],
    ['Open', description, 0],
  );
  const bodiesFor = async (as: string): Promise<string[]> =>
    (await world.api(`GET ${pathOf(issue)}/notes`, { as })).body.map(({ body }: { body: string }) => body);
  const { full_path } = hidden;
  assert.ok((await bodiesFor(shown.reporter.token)).includes(`cloned to ${full_path}#${made.body.iid}`));
  const stranger = await world.team();
  const seen = await bodiesFor(stranger.reporter.token);
  assert.ok(seen.includes('cloned to another project'), seen.join(', '));
  assert.ok(!seen.some((body) => body.includes(full_path)));
});
