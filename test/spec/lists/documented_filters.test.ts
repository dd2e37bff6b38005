/** Filters of issues and milestones that clients send: each narrows its list as documented. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type Team, type World, answer, startWorld } from '../world.ts';

let world: World;
let team: Team;
before(async () => {
  world = await startWorld();
  team = await world.team();
});
after(async () => await world.close());

const titles = async (path: string): Promise<string[]> => {
  const reply = await world.api(`GET /projects/${team.id}/${path}`);
  assert.equal(reply.status, 200, path);
  assert.equal(reply.headers.get('x-total'), String(reply.body.length), path);
  return reply.body.map(({ title }: { title: string }) => title).toSorted();
};

const create = async (path: string, json: object): Promise<{ id: number }> => {
  const { status, body } = await world.api(`POST /projects/${team.id}/${path}`, { json });
  assert.equal(status, 201);
  return body;
};

it('limits the search of issues to titles or descriptions', async () => {
  await create('issues', { title: 'walrus one', description: 'sea' });
  await create('issues', { title: 'other', description: 'about a walrus' });
  const all = ['other', 'walrus one'];
  assert.deepEqual(await titles('issues?search=walrus'), all);
  assert.deepEqual(await titles('issues?search=walrus&in=title'), ['walrus one']);
  assert.deepEqual(await titles('issues?search=wa&in=description'), ['other']);
  assert.deepEqual(await titles('issues?search=walrus&in=title,description'), all);
  assert.deepEqual(await titles('issues?search=walrus&in='), all);
  assert.deepEqual(answer(await world.api(`GET /projects/${team.id}/issues?search=walrus&in=notes`)), [
    400,
    { message: { in: ['does not have a valid value'] } },
  ]);
});

it('accepts keywords instead of a milestone id', async () => {
  const started = await create('milestones', { title: 'now', start_date: '2001-01-01' });
  const coming = await create('milestones', { title: 'soon', due_date: '2999-01-01' });
  await create('issues', { title: 'of now', milestone_id: started.id });
  await create('issues', { title: 'of soon', milestone_id: coming.id });
  await create('issues', { title: 'of none' });
  assert.deepEqual(await titles('issues?search=of&milestone_id=Any'), ['of now', 'of soon']);
  assert.deepEqual(await titles('issues?search=of&milestone_id=Started'), ['of now']);
  assert.deepEqual(await titles('issues?search=of&milestone_id=Upcoming'), ['of soon']);
  assert.deepEqual(await titles('issues?search=%22of%20none%22&milestone_id=None'), ['of none']);
  assert.deepEqual(await titles('issues?milestone=now&milestone_id=None'), []);
  assert.equal((await world.api(`GET /projects/${team.id}/issues?milestone_id=1`)).status, 400);
});

it('filters milestones by their dates, their title and their last change', async () => {
  const { id } = await world.team();
  const list = async (query: string): Promise<string[]> => {
    const reply = await world.api(`GET /projects/${id}/milestones?${query}`);
    assert.equal(reply.headers.get('x-total'), String(reply.body.length), query);
    return reply.body.map(({ title }: { title: string }) => title).toSorted();
  };
  const made = async (json: object) => await world.api(`POST /projects/${id}/milestones`, { json });
  await made({ title: 'may', start_date: '2020-05-01', due_date: '2020-05-31', description: 'after april' });
  await made({ title: 'until june', due_date: '2020-06-30' });
  await made({ title: 'from july', start_date: '2020-07-01' });
  await made({ title: 'april, any year' });
  assert.deepEqual(await list('containing_date=2020-05-31'), ['may', 'until june']);
  assert.deepEqual(await list('containing_date=2020-08-01'), ['from july']);
  assert.deepEqual(await list('start_date=2020-06-01&end_date=2020-06-15'), ['until june']);
  assert.deepEqual(await list('start_date=2020-06-01'), ['from july', 'until june']);
  assert.deepEqual(await list('search_title=april'), ['april, any year']);
  assert.deepEqual(await list('search=april'), ['april, any year', 'may']);
  assert.deepEqual(await list('updated_after=2999-01-01'), []);
  assert.deepEqual(await list('updated_before=2001-01-01'), []);
  assert.equal((await list('updated_after=2001-01-01')).length, 4);
});
