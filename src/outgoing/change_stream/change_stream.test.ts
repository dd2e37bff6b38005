/** The change log for clients: pages, long polls, streams; who sees what; order across processes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import {
  type SeededProject,
  type SeededUser,
  seedGroup,
  seedIssue,
  seedMember,
  seedProject,
  seedUser,
} from '../../../test/support/seed.ts';
import { type TestService, engine, rootToken, startTestService } from '../../../test/support/service.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { type Store, openStore } from '../../platform/db/open.ts';
import { systemClock } from '../../platform/time.ts';
import type { Change } from './list_changes.ts';

let gantry: TestService;
let reader: SeededUser;
let project: SeededProject;
before(async () => {
  gantry = await startTestService();
  reader = await seedUser(gantry);
  project = await seedProject(gantry);
});
after(async () => await gantry.close());

type Page = { changes: Change[]; next_after: number };

const read = async (query = '', as = reader.token): Promise<Page> => {
  const { status, body, text } = await gantry.api(`GET /changes?${query}`, { as });
  assert.equal(status, 200, text);
  return body;
};

/** Where the log ends now. */
const end = async (): Promise<number> => (await read()).next_after;

const brief = ({ kind, action, target_type, target_iid }: Change): unknown[] => [
  kind,
  action,
  target_type,
  target_iid,
];

const must = async (line: string, json: object = {}, as = rootToken) => {
  const { status, body, text } = await gantry.api(line, { json, as });
  assert.ok(status < 300, `${line}: ${text}`);
  return body;
};

describe('a page of changes', () => {
  it('a page of changes names the records that changed, and their projects', async () => {
    const from = await end();
    const of = `/projects/${project.id}`;
    const { iid } = await must(`POST ${of}/issues`, { title: 'One' });
    await must(`POST ${of}/issues/${iid}/notes`, { body: 'Two' });
    await must(`PUT ${of}/issues/${iid}`, { state_event: 'close' });
    await must(`POST ${of}/milestones`, { title: 'v1' });
    await seedCommit(gantry, project.id, { a: '1' });
    await must(`POST ${of}/variables`, { key: 'SECRET', value: 'x' });
    const { changes, next_after } = await read(`after=${from}`);
    const [first] = changes;
    assert.deepEqual(Object.keys(first ?? {}), [
      'id',
      'created_at',
      'kind',
      'action',
      'project_id',
      'project_path',
      'target_type',
      'target_iid',
      'target_id',
      'pipeline_id',
      'ref',
      'sha',
    ]);
    assert.deepEqual([first?.project_id, first?.project_path], [project.id, project.full_path]);
    const kinds = changes.map(brief).filter(([kind, action]) => kind !== 'note' || action === 'created');
    assert.deepEqual(kinds.slice(0, 3), [
      ['issue', 'created', 'Issue', iid],
      ['note', 'created', 'Issue', iid],
      ['issue', 'closed', 'Issue', iid],
    ]);
    assert.deepEqual(kinds.slice(-2), [
      ['milestone', 'created', 'Milestone', 1],
      ['ref', 'created', 'Project', null],
    ]);
    assert.ok(next_after >= (changes.at(-1)?.id ?? 0));
    const paged = await read(`after=${from}&per_page=1`);
    assert.deepEqual([paged.changes.length, paged.next_after], [1, first?.id]);
    assert.deepEqual((await read(`after=${next_after}`)).changes, []);
  });

  it('is narrowed to projects, groups and memberships, by what the caller sees', async () => {
    const group = await seedGroup(gantry);
    const below = await seedGroup(gantry, { parent: group.id });
    const member = await seedUser(gantry);
    const projects = {
      inGroup: await seedProject(gantry, { namespace: group.id }),
      below: await seedProject(gantry, { namespace: below.id }),
      own: await seedProject(gantry, { owner: member.id }),
      other: await seedProject(gantry),
      hidden: await seedProject(gantry, { namespace: group.id, visibility: 'private' }),
    };
    await seedMember(gantry, { user: member.id, project: projects.below.id, access_level: 10 });
    const from = await end();
    for (const { id } of Object.values(projects)) await must(`POST /projects/${id}/issues`, { title: 'One' });
    const names = async (query: string, as = member.token): Promise<string[]> => {
      const { changes } = await read(`after=${from}&${query}`, as);
      const created = changes.filter(({ kind, action }) => kind === 'issue' && action === 'created');
      return created.map(
        ({ project_id }) => Object.entries(projects).find(([, { id }]) => id === project_id)?.[0] ?? '',
      );
    };
    assert.deepEqual(await names(`project_id=${projects.own.id}`), ['own']);
    assert.deepEqual(await names(`project_id=${encodeURIComponent(projects.other.full_path)}`), ['other']);
    assert.deepEqual(await names(`group_id=${group.id}`), ['inGroup', 'below']);
    assert.deepEqual(await names(`group_id=${below.id}`), ['below']);
    assert.deepEqual(await names(`group_id=${group.id}`, rootToken), ['inGroup', 'below', 'hidden']);
    assert.deepEqual(await names('membership=true'), ['below', 'own']);
    assert.deepEqual(await names('membership=false'), ['inGroup', 'below', 'own', 'other']);
    assert.deepEqual(await names(`membership=true&group_id=${group.id}`), ['below']);
    const { next_after } = await read(`after=${from}&project_id=${projects.own.id}`, member.token);
    assert.equal(next_after, await end());
    const waiting = read(`after=${next_after}&wait=60&project_id=${projects.own.id}`, member.token);
    await must(`POST /projects/${projects.other.id}/issues`, { title: 'Two' });
    await must(`POST /projects/${projects.own.id}/issues`, { title: 'Two' });
    assert.deepEqual(
      new Set((await waiting).changes.map(({ project_id }) => project_id)),
      new Set([projects.own.id]),
    );
  });

  it('is refused for projects that the caller does not see, bad values and unknown filters', async () => {
    const hidden = await seedProject(gantry, { visibility: 'private' });
    const group = await seedGroup(gantry, { visibility: 'private' });
    const cases: [query: string, status: number, name?: string][] = [
      [`project_id=${hidden.id}`, 404],
      ['project_id=999999', 404],
      [`group_id=${group.id}`, 404],
      ['group_id=no/such', 404],
      ['membership=perhaps', 400, 'membership'],
      ['kind=issue', 400, 'kind'],
      ['project=1', 400, 'project'],
      ['project_ids[]=1', 400, 'project_ids'],
    ];
    for (const [query, expected, name] of cases) {
      const { status, body, headers } = await gantry.api(`GET /changes?${query}`, { as: reader.token });
      assert.equal(status, expected, query);
      if (name !== undefined) assert.deepEqual(Object.keys(body.message), [name]);
      assert.equal(headers.get('gantry-ignored-parameters'), null);
    }
    assert.equal((await gantry.api(`GET /changes?private_token=${reader.token}`, { as: null })).status, 200);
  });

  it('names labels, members, branches, releases and commits', async () => {
    const from = await end();
    const of = `/projects/${project.id}`;
    const { id: label } = await must(`POST ${of}/labels`, { name: 'urgent', color: '#ff0000' });
    const { id: user } = await seedUser(gantry);
    await must(`POST ${of}/members`, { user_id: user, access_level: 20 });
    const sha = await seedCommit(gantry, project.id, { b: '1' }, { branch: 'topic' });
    await must(`POST ${of}/releases`, { tag_name: 'v9', ref: 'topic', description: 'x' });
    await must(`POST ${of}/repository/commits/${sha}/comments`, { note: 'Nice' });
    const { changes } = await read(`after=${from}`);
    const named = changes.map(({ kind, target_id, ref, sha: commit }) => [kind, target_id, ref, commit]);
    const find = (kind: string): unknown[] => named.filter(([noun]) => noun === kind);
    assert.deepEqual(find('label'), [['label', label, null, null]]);
    assert.deepEqual(find('member'), [['member', user, null, null]]);
    assert.deepEqual(find('ref'), [
      ['ref', null, 'refs/heads/topic', null],
      ['ref', null, 'refs/tags/v9', null],
    ]);
    assert.deepEqual(find('release'), [['release', null, 'refs/tags/v9', null]]);
    assert.deepEqual(find('commit_comment'), [['commit_comment', null, null, sha]]);
  });

  it('names the subjects of emoji, to those who see them', async () => {
    const of = `/projects/${project.id}`;
    const { iid } = await must(`POST ${of}/issues`, { title: 'Liked' });
    const note = await must(`POST ${of}/issues/${iid}/notes`, { body: 'Seen' });
    const hidden = await must(`POST ${of}/issues`, { title: 'Secret', confidential: true });
    const attributes = { title: 'Knot', file_name: 'a.txt', content: 'Tie', visibility: 'public' };
    const snippet = await must(`POST ${of}/snippets`, attributes);
    const from = await end();
    const award = await must(`POST ${of}/issues/${iid}/award_emoji`, { name: 'rocket' });
    await must(`POST ${of}/issues/${iid}/notes/${note.id}/award_emoji`, { name: 'rocket' });
    await must(`POST ${of}/issues/${hidden.iid}/award_emoji`, { name: 'rocket' });
    await must(`POST ${of}/snippets/${snippet.id}/award_emoji`, { name: 'rocket' });
    await must(`DELETE ${of}/issues/${iid}/award_emoji/${award.id}`);
    const { changes } = await read(`after=${from}`);
    assert.deepEqual(changes.map(brief), [
      ['award_emoji', 'created', 'Issue', iid],
      ['award_emoji', 'created', 'Issue', iid],
      ['award_emoji', 'created', 'Snippet', snippet.id],
      ['award_emoji', 'deleted', 'Issue', iid],
    ]);
    const all = await read(`after=${from}`, rootToken);
    assert.deepEqual(
      all.changes.map(({ target_iid }) => target_iid),
      [iid, iid, hidden.iid, snippet.id, iid],
    );
  });

  it('shows what the caller sees at the time of reading', async () => {
    const from = await end();
    const hidden = await seedProject(gantry, { visibility: 'private' });
    await must(`POST /projects/${hidden.id}/issues`, { title: 'Hidden' });
    const of = `/projects/${project.id}/issues`;
    const { iid } = await must(`POST ${of}`, { title: 'Secret', confidential: true });
    await must(`POST ${of}/${iid}/notes`, { body: 'Secret' });
    assert.deepEqual((await read(`after=${from}`)).changes, []);
    await seedMember(gantry, { user: reader.id, project: hidden.id, access_level: 10 });
    const seen = (await read(`after=${from}`)).changes;
    assert.deepEqual(
      seen.map(({ project_id, kind }) => [project_id, kind]),
      [[hidden.id, 'issue']],
    );
    await must(`PUT ${of}/${iid}`, { confidential: false });
    const kinds = (await read(`after=${from}`)).changes.filter(({ project_id }) => project_id === project.id);
    assert.ok(kinds.some(({ kind, action }) => kind === 'note' && action === 'created'));
    assert.deepEqual(kinds.map(brief)[0], ['issue', 'created', 'Issue', iid]);
    await must(`DELETE ${of}/${iid}`);
    const left = (await read(`after=${from}`)).changes.filter(({ project_id }) => project_id === project.id);
    assert.deepEqual(left, []);
  });

  it('refuses strangers and bad parameters', async () => {
    assert.equal((await gantry.api('GET /changes', { as: null })).status, 401);
    for (const query of ['wait=61', 'wait=-1', 'after=x', 'per_page=101', 'after=-1']) {
      assert.equal((await gantry.api(`GET /changes?${query}`)).status, 400, query);
    }
  });
});

describe('a long poll', () => {
  it('waits for a change that the caller sees', async () => {
    const from = await end();
    const waiting = read(`after=${from}&wait=60`);
    const hidden = await seedProject(gantry, { visibility: 'private' });
    await must(`POST /projects/${hidden.id}/issues`, { title: 'Hidden' });
    const { iid } = await must(`POST /projects/${project.id}/issues`, { title: 'Seen' });
    const { changes } = await waiting;
    assert.deepEqual(changes.map(brief), [['issue', 'created', 'Issue', iid]]);
  });

  it('ends without a change when its time is over', async () => {
    const from = await end();
    assert.deepEqual(await read(`after=${from}&wait=1`), { changes: [], next_after: from });
  });
});

/** Reads events of a stream until there are so many. */
const readStream = async (
  headers: Record<string, string>,
  count: number,
  onOpen: () => Promise<unknown>,
  query = '',
): Promise<{ id: number; change: Change }[]> => {
  const control = new AbortController();
  const response = await fetch(`${gantry.url}/api/v4/changes?${query}`, {
    headers: { accept: 'text/event-stream', 'private-token': reader.token, ...headers },
    signal: control.signal,
  });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  const found: { id: number; change: Change }[] = [];
  await onOpen();
  let text = '';
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, id, data] = /^id: (\d+)\nevent: change\ndata: (.*)$/.exec(block) ?? [];
      if (data !== undefined) found.push({ id: Number(id), change: JSON.parse(data) as Change });
    }
    if (found.length >= count) break;
  }
  control.abort();
  return found;
};

describe('a stream of server-sent events', () => {
  it('sends changes as they happen, and resumes after the last event', async () => {
    const of = `/projects/${project.id}/issues`;
    const iids: number[] = [];
    const make = async () => void iids.push((await must(`POST ${of}`, { title: 'Streamed' })).iid);
    const first = await readStream({}, 1, make);
    assert.deepEqual(brief(first[0]?.change as Change), ['issue', 'created', 'Issue', iids[0]]);
    await make();
    const resumed = await readStream({ 'last-event-id': String(first[0]?.id) }, 2, make, 'after=0');
    assert.deepEqual(
      resumed.map(({ change }) => change.target_iid),
      iids.slice(1),
    );
    assert.deepEqual(
      resumed.map(({ id, change }) => id === change.id),
      [true, true],
    );
  });

  it('a stream of changes ends when its token is revoked', async () => {
    const other = await seedUser(gantry);
    const from = await end();
    const waiting = gantry.api(`GET /changes?after=${from}&wait=60`, { as: other.token });
    await gantry.api('DELETE /personal_access_tokens/self', { as: other.token });
    await must(`POST /projects/${project.id}/issues`, { title: 'Later' });
    const { status, body } = await waiting;
    assert.ok(status === 401 || body.changes.length === 0, String(status));
  });

  it('a user can have only a few streams of changes', async () => {
    const other = await seedUser(gantry);
    const control = new AbortController();
    const headers = { accept: 'text/event-stream', 'private-token': other.token };
    const open = async () => await fetch(`${gantry.url}/api/v4/changes`, { headers, signal: control.signal });
    // The responses are kept: `fetch` closes the connection of one that is garbage-collected.
    const opened: Response[] = [];
    for (let at = 0; at < 50; at += 1) opened.push(await open());
    assert.equal((await open()).status, 503);
    assert.deepEqual(new Set(opened.map(({ status }) => status)), new Set([200]));
    control.abort();
    for (let tries = 0; tries < 200; tries += 1) {
      const again = await fetch(`${gantry.url}/api/v4/changes?wait=1`, {
        headers: { 'private-token': other.token },
      });
      if (again.status === 200) return;
      await new Promise((resolve) => void setTimeout(resolve, 10));
    }
    assert.fail('the places of closed connections were not given back');
  });
});

it('a service that stops ends streams and polls', async () => {
  const own = await startTestService();
  const waiting = own.api('GET /changes?wait=60');
  const stream = await fetch(`${own.url}/api/v4/changes`, {
    headers: { accept: 'text/event-stream', 'private-token': rootToken },
  });
  await own.close();
  assert.equal((await waiting).status, 200);
  await stream.text();
});

describe('two processes on one database', { skip: engine !== 'postgres' }, () => {
  let other: Store;
  before(async () => {
    const { config } = gantry.service.platform;
    const { database_url, database_schema } = config;
    other = await openStore(
      {
        file: '',
        url: database_url ?? '',
        schema: database_schema,
        connections: 4,
        onFatal: (error) => {
          throw error;
        },
      },
      systemClock,
    );
  });
  after(async () => await other.close());

  const record = async (iid: number, between: () => Promise<unknown> = async () => undefined) =>
    await other.write(async (tx) => {
      const issue = await tx.db
        .selectFrom('issues')
        .select('id')
        .where('project_id', '=', project.id)
        .where('iid', '=', iid)
        .executeTakeFirstOrThrow();
      const target = { project_id: project.id, target_type: 'Issue', target_id: issue.id };
      await recordEvent(tx, null, { kind: 'issue.updated', ...target });
      await between();
    });

  it('tell each other of changes while somebody waits', async () => {
    const { iid } = await seedIssue(gantry, { project: project.id });
    const from = await end();
    const waiting = read(`after=${from}&wait=60`);
    for (let at = 0; at < 500; at += 1) {
      const { value } = await other.db
        .selectFrom('instance')
        .select('value')
        .where('name', '=', 'changes_read_until')
        .executeTakeFirstOrThrow();
      if (Number(value) > Date.now()) break;
      await new Promise((resolve) => void setTimeout(resolve, 5));
    }
    await record(iid);
    assert.deepEqual((await waiting).changes.map(brief), [['issue', 'updated', 'Issue', iid]]);
  });

  it('miss nothing that is committed after a change with a larger id', async () => {
    const early = await seedIssue(gantry, { project: project.id });
    const late = await seedIssue(gantry, { project: project.id });
    const from = await end();
    const polls: Promise<Page>[] = [];
    await record(early.iid, async () => {
      await record(late.iid);
      assert.deepEqual((await read(`after=${from}`)).changes, []);
      polls.push(read(`after=${from}&wait=60`));
    });
    const [polled] = await Promise.all(polls);
    assert.deepEqual(
      polled?.changes.map(({ target_iid }) => target_iid),
      [early.iid, late.iid],
    );
    assert.equal((await read(`after=${from}`)).changes.length, 2);
  });
});
