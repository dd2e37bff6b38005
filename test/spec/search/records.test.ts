/** The search API over records: what each scope finds, and that nothing hidden is found or counted. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import {
  type SeededGroup,
  type SeededProject,
  type SeededUser,
  seedGroup,
  seedIssue,
  seedMember,
  seedMergeRequest,
  seedProject,
  seedUser,
  unique,
} from '../../support/seed.ts';
import { type TestService, startTestService } from '../../support/service.ts';

let gantry: TestService;
let reader: SeededUser;
let group: SeededGroup;
let open: SeededProject;
let closed: SeededProject;
let archived: SeededProject;
const word = unique('needle');

before(async () => {
  gantry = await startTestService();
  reader = await seedUser(gantry);
  group = await seedGroup(gantry);
  const inGroup = { namespace: group.id };
  open = await seedProject(gantry, { ...inGroup, path: `${word}-open` });
  closed = await seedProject(gantry, { ...inGroup, path: `${word}-closed`, visibility: 'private' });
  archived = await seedProject(gantry, { ...inGroup, path: `${word}-archived`, archived: 1 });
});
after(async () => await gantry.close());

type Found = { total: number; ids: number[]; items: Record<string, unknown>[] };

const search = async (line: string, as = reader.token): Promise<Found> => {
  const { status, headers, body, text } = await gantry.api(`GET ${line}`, { as });
  assert.equal(status, 200, text);
  return {
    total: Number(headers.get('x-total')),
    ids: body.map(({ id }: { id: number }) => id),
    items: body,
  };
};

/** Asserts that the reader finds these and only these, everywhere and in the group. */
const findsOnly = async (scope: string, ids: number[], search_ = word): Promise<void> => {
  for (const place of ['', `/groups/${group.id}`]) {
    const found = await search(`${place}/search?scope=${scope}&search=${search_}`);
    assert.deepEqual([found.ids, found.total], [ids, ids.length], place);
  }
};

describe('the scopes', () => {
  it('refuse a scope that the place does not have, and a search of nothing', async () => {
    const refusal = async (line: string) => {
      const { status, body } = await gantry.api(`GET ${line}`);
      return [status, body];
    };
    const missing = (name: string) => [400, { message: `400 (Bad request) "${name}" not given` }];
    assert.deepEqual(await refusal('/search?search=a'), missing('scope'));
    const invalid = [400, { message: { scope: ['does not have a valid value'] } }];
    assert.deepEqual(await refusal('/search?search=a&scope=wiki_blobs'), invalid);
    assert.deepEqual(await refusal('/search?search=a&scope=notes'), invalid);
    assert.deepEqual(await refusal(`/projects/${open.id}/search?search=a&scope=projects`), invalid);
    assert.deepEqual(await refusal('/search?scope=issues'), missing('search'));
    assert.deepEqual(await refusal('/search?scope=issues&search=%20'), missing('search'));
    assert.equal((await gantry.api('GET /search?scope=issues&search=a', { as: null })).status, 401);
  });

  it('find projects, without archived ones unless asked', async () => {
    await findsOnly('projects', [open.id]);
    const all = await search(`/search?scope=projects&search=${word}&include_archived=true&sort=asc`);
    assert.deepEqual(all.ids, [open.id, archived.id]);
    const first = await search(
      `/groups/${group.id}/-/search?scope=projects&search=${word}&include_archived=true&per_page=1`,
    );
    assert.deepEqual([first.ids, first.total], [[archived.id], 2]);
  });

  it('find issues by state and confidentiality, in the JSON of the lists', async () => {
    const at = { project: open.id, title: `An issue with ${word}` };
    const plain = await seedIssue(gantry, at);
    const done = await seedIssue(gantry, { ...at, state: 'closed' });
    const secret = await seedIssue(gantry, { ...at, confidential: 1 });
    await seedIssue(gantry, { ...at, project: closed.id });
    await seedIssue(gantry, { ...at, deleted: true });
    const kept = await seedIssue(gantry, { ...at, project: archived.id });
    await findsOnly('issues', [done.id, plain.id]);
    const here = `/projects/${open.id}/search?scope=issues&search=${word}`;
    assert.deepEqual((await search(`${here}&sort=asc`)).ids, [plain.id, done.id]);
    assert.deepEqual((await search(`${here}&state=opened`)).ids, [plain.id]);
    assert.deepEqual((await search(`${here}&state=merged`)).ids, []);
    assert.deepEqual((await search(`${here}&confidential=true`)).total, 0);
    const all = `/search?scope=issues&search=${word}&include_archived=true`;
    assert.deepEqual((await search(all)).ids, [kept.id, done.id, plain.id]);
    const token = (await seedUser(gantry, { admin: 1 })).token;
    assert.deepEqual((await search(`${here}&confidential=true`, token)).ids, [secret.id]);
    const { body: listed } = await gantry.api(`GET /projects/${open.id}/issues?iids[]=${plain.iid}`, {
      as: reader.token,
    });
    assert.deepEqual((await search(`${here}&state=opened`)).items, listed);
    const archive = `/projects/${archived.id}/-/search?scope=issues&search=${word}`;
    assert.deepEqual((await search(archive)).ids, [kept.id]);
  });

  it('find merge requests', async () => {
    const at = { project: open.id, title: `A change of ${word}` };
    const plain = await seedMergeRequest(gantry, at);
    const merged = await seedMergeRequest(gantry, { ...at, state: 'merged' });
    await seedMergeRequest(gantry, { ...at, project: closed.id });
    await findsOnly('merge_requests', [merged.id, plain.id]);
    const here = `/projects/${open.id}/search?scope=merge_requests&search=${word}&state=merged`;
    assert.deepEqual((await search(here)).ids, [merged.id]);
  });

  it('find milestones of projects and groups', async () => {
    const make = async (owner: string): Promise<number> => {
      const json = { title: unique('v1'), description: `For ${word}` };
      return (await gantry.api(`POST ${owner}/milestones`, { json })).body.id;
    };
    const ofGroup = await make(`/groups/${group.id}`);
    const ofProject = await make(`/projects/${open.id}`);
    await make(`/projects/${closed.id}`);
    await make(`/groups/${(await seedGroup(gantry, { visibility: 'private' })).id}`);
    await findsOnly('milestones', [ofProject, ofGroup]);
    const here = await search(`/projects/${open.id}/search?scope=milestones&search=${word}`);
    assert.deepEqual(here.ids, [ofProject]);
    assert.ok(String(here.items[0]?.['web_url']).includes('/milestones/'));
    const elsewhere = await seedGroup(gantry);
    const none = await search(`/groups/${elsewhere.id}/search?scope=milestones&search=${word}`);
    assert.equal(none.total, 0);
  });

  it('find snippets by title', async () => {
    const make = async (path: string, visibility: string): Promise<number> => {
      const json = { title: `A ${word}`, file_name: 'a.txt', content: 'text', visibility };
      return (await gantry.api(`POST ${path}/snippets`, { json })).body.id;
    };
    const own = await make('', 'public');
    await make('', 'private');
    const inProject = await make(`/projects/${open.id}`, 'internal');
    await make(`/projects/${closed.id}`, 'public');
    await make(`/projects/${open.id}`, 'private');
    const found = await search(`/search?scope=snippet_titles&search=${word}`);
    assert.deepEqual([found.ids, found.total], [[inProject, own], 2]);
  });

  it('find people everywhere, and members in groups and projects', async () => {
    const name = unique('person');
    const member = await seedUser(gantry, { username: `${name}-member` });
    const other = await seedUser(gantry, { username: `${name}-other` });
    await seedMember(gantry, { user: member.id, group: group.id, access_level: 20 });
    const everywhere = await search(`/search?scope=users&search=${name}`);
    assert.deepEqual(everywhere.ids, [other.id, member.id]);
    assert.equal('email' in (everywhere.items[0] ?? {}), false);
    for (const place of [`/groups/${group.id}`, `/projects/${open.id}`]) {
      const found = await search(`${place}/search?scope=users&search=${name}`);
      assert.deepEqual([found.ids, found.total], [[member.id], 1], place);
    }
  });

  it('find comments on visible issues and merge requests of a project', async () => {
    const text = unique('comment');
    const say = async (path: string): Promise<number> =>
      (await gantry.api(`POST ${path}/notes`, { json: { body: `Say ${text}` } })).body.id;
    const at = { project: open.id, title: 'Commented' };
    const issue = await seedIssue(gantry, at);
    const secret = await seedIssue(gantry, { ...at, confidential: 1 });
    const request = await seedMergeRequest(gantry, at);
    const [first, hidden, second] = [
      await say(`/projects/${open.id}/issues/${issue.iid}`),
      await say(`/projects/${open.id}/issues/${secret.iid}`),
      await say(`/projects/${open.id}/merge_requests/${request.iid}`),
    ];
    const line = `/projects/${open.id}/search?scope=notes&search=${text.toUpperCase()}`;
    const found = await search(line);
    assert.deepEqual([found.ids, found.total], [[second, first], 2]);
    assert.deepEqual(
      [found.items[1]?.['noteable_iid'], found.items[1]?.['noteable_type']],
      [issue.iid, 'Issue'],
    );
    assert.ok((await search(line, (await seedUser(gantry, { admin: 1 })).token)).ids.includes(hidden));
    await gantry.api(`PUT /projects/${open.id}`, { json: { issues_access_level: 'disabled' } });
    assert.deepEqual((await search(line)).ids, [second]);
    await gantry.api(`PUT /projects/${open.id}`, { json: { issues_access_level: 'enabled' } });
  });

  it('find comments on commits, after the others, for those who may read the code', async () => {
    const text = unique('remark');
    const { id } = await seedProject(gantry);
    const sha = await seedCommit(gantry, id, { a: '1' });
    const issue = await seedIssue(gantry, { project: id });
    const say = async (path: string, json: object): Promise<void> =>
      assert.equal((await gantry.api(`POST /projects/${id}/${path}`, { json })).status, 201);
    await say(`repository/commits/${sha}/comments`, { note: `First ${text}` });
    await say(`repository/commits/${sha}/comments`, { note: `Second ${text}` });
    await say(`issues/${issue.iid}/notes`, { body: `Third ${text}` });
    const line = `/projects/${id}/search?scope=notes&search=${text}`;
    const bodies = async (query: string): Promise<unknown[]> =>
      (await search(line + query)).items.map(({ body }) => body);
    assert.deepEqual(await bodies(''), [`Third ${text}`, `Second ${text}`, `First ${text}`]);
    assert.deepEqual(await bodies('&per_page=1&page=3'), [`First ${text}`]);
    const { items, total } = await search(line);
    assert.deepEqual([items[1]?.['noteable_type'], items[1]?.['commit_id'], total], ['Commit', sha, 3]);
    await gantry.api(`PUT /projects/${id}`, { json: { repository_access_level: 'disabled' } });
    assert.equal((await search(line)).total, 1);
  });

  it('find commits of a branch by their message', async () => {
    const message = `Mention ${unique('message')} once`;
    const [, wanted = ''] = message.split(' ');
    const { id } = await seedProject(gantry, { namespace: group.id });
    assert.equal((await search(`/projects/${id}/search?scope=commits&search=a`)).total, 0);
    const sha = await seedCommit(gantry, id, { a: '1' }, { message });
    await seedCommit(gantry, id, { a: '2' }, { message: 'Another' });
    await seedCommit(gantry, id, { b: '2' }, { message, branch: 'side', from: 'main' });
    const line = `/projects/${id}/search?scope=commits&search=${wanted}`;
    const found = await search(line);
    assert.deepEqual([found.ids, found.total], [[sha], 1]);
    assert.deepEqual([found.items[0]?.['project_id'], found.items[0]?.['last_pipeline']], [id, null]);
    assert.equal((await search(`${line}&ref=side`)).total, 2);
    assert.equal((await gantry.api(`GET ${line}&ref=none`)).status, 404);
  });

  it('answer 404 in a hidden place', async () => {
    for (const place of [`/projects/${closed.id}`, '/groups/0']) {
      const { status } = await gantry.api(`GET ${place}/search?scope=issues&search=a`, { as: reader.token });
      assert.equal(status, 404, place);
    }
  });
});
