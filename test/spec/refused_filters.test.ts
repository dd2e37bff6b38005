/** Filters that are known and not supported: refused where they would narrow a list, so that it never holds more. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type Team, type World, answer, startWorld } from './world.ts';

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
  [`/projects/${team.id}/labels`, 'archived', 'true', 'false'],
  [`/groups/${group}/labels`, 'archived', '1', '0'],
  [`/groups/${group}/labels`, 'include_descendant_groups', 'true', 'false'],
  [`/groups/${group}/labels`, 'only_group_labels', 'false', 'true'],
  ['/deploy_keys', 'public', 'true', 'no'],
  [`/projects/${team.id}/deploy_keys`, 'public', 'true', 'False'],
  ['/audit_events', 'entity_type', 'Project', ''],
  ['/audit_events', 'entity_id', '1', ''],
  [`/projects/${team.id}/repository/branches`, 'regex', '^feature', ''],
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
