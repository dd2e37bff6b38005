/** Filters that are known and not supported: refused where they would narrow a list, so that it never holds more. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type Team, type World, answer, startWorld } from '../world.ts';

let world: World;
let team: Team;
let group: number;
before(async () => {
  world = await startWorld();
  team = await world.team();
  group = (await world.api('POST /groups', { json: { name: 'Refused', path: 'refused' } })).body.id;
});
after(async () => await world.close());

const lines = (): [path: string, filter: string, narrowing: string, neutral: string][] => [
  ['/audit_events', 'entity_type', 'Project', ''],
  ['/audit_events', 'entity_id', '1', ''],
  ...['/issues', `/groups/${group}/issues`, `/projects/${team.id}/issues`, '/issues_statistics'].flatMap(
    (path): [string, string, string, string][] => [
      [path, 'epic_id', '1', 'None'],
      [path, 'health_status', 'at_risk', ''],
      [path, 'iteration_id', 'Current', 'none'],
      [path, 'iteration_title', 'Sprint', ''],
      [path, 'weight', '3', 'None'],
      [path, 'not[weight]', '3', ''],
    ],
  ),
  ...['/merge_requests', `/groups/${group}/merge_requests`, `/projects/${team.id}/merge_requests`].flatMap(
    (path): [string, string, string, string][] => [
      [path, 'approver_ids', '1', 'None'],
      [path, 'not[weight]', '1', ''],
    ],
  ),
  ['/users', 'created_by', '1', ''],
  ['/users', 'status', 'busy', ''],
  ['/groups', 'custom_attributes', 'x', ''],
  ['/projects', 'custom_attributes', 'x', ''],
  ['/snippets/all', 'repository_storage', 'default', ''],
];

it('answers 400 and names the filter', async () => {
  for (const [path, filter, narrowing] of lines()) {
    const reply = await world.api(`GET ${path}?${filter}=${encodeURIComponent(narrowing)}`);
    const message = { [filter]: ['is a filter that is not supported'] };
    assert.deepEqual(answer(reply), [400, { message }], `${path} ${filter}`);
  }
});

it('takes a value that does not narrow the list', async () => {
  for (const [path, filter, , neutral] of lines()) {
    const reply = await world.api(`GET ${path}?${filter}=${neutral}`);
    assert.equal(reply.status, 200, `${path} ${filter}`);
    assert.equal(reply.headers.get('gantry-ignored-parameters'), null);
  }
});

it('lists nothing for what no record can be', async () => {
  const key = `ssh-ed25519 ${Buffer.from(`\0\0\0\x0bssh-ed25519\0\0\0\x20${'k'.repeat(32)}`).toString('base64')}`;
  await world.api(`POST /projects/${team.id}/deploy_keys`, { json: { title: 'Robot', key } });
  for (const path of [`/projects/${team.id}/labels`, `/groups/${group}/labels`])
    await world.api(`POST ${path}`, { json: { name: 'kept', color: '#123456' } });
  const rows: [path: string, none: string, all: string][] = [
    [`/projects/${team.id}/labels`, 'archived=true', 'archived=false'],
    [`/groups/${group}/labels`, 'archived=1', 'archived=0'],
    ['/deploy_keys', 'public=true', 'public=no'],
    [`/projects/${team.id}/deploy_keys`, 'public=true', 'public=False'],
    ['/projects', 'marked_for_deletion_on=2026-01-01', 'marked_for_deletion_on='],
    ['/groups', 'archived=true', 'archived=false'],
    ['/groups', 'active=false', 'active=true'],
    ['/groups', 'marked_for_deletion_on=2026-01-01', ''],
  ];
  for (const [path, none, all] of rows) {
    const [empty, full] = [await world.api(`GET ${path}?${none}`), await world.api(`GET ${path}?${all}`)];
    assert.deepEqual([...answer(empty), empty.headers.get('x-total')], [200, [], '0'], `${path} ${none}`);
    assert.equal(full.status, 200, `${path} ${all}`);
    assert.ok(full.body.length > 0, `${path} ${all}`);
  }
});
