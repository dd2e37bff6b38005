/** Internal comments: reporters and above see them, and nothing tells others of them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type HookReceiver, startHookReceiver } from '../../support/servers/hook_receiver.ts';
import { type SeededUser, seedMember, seedUser } from '../../support/seed.ts';
import { openRequest, seedBranch, seedCoded } from '../../support/seed_merge_requests.ts';
import { seedVisitor } from '../../support/seed_visitor.ts';
import { type World, answer, startWorld } from '../world.ts';

let world: World;
let receiver: HookReceiver;
let project: number;
let reporter: SeededUser;
let colleague: SeededUser;
let guest: SeededUser;
before(async () => {
  [world, receiver] = await Promise.all([startWorld(), startHookReceiver()]);
  const settings = { allow_local_requests_from_hooks_and_services: true };
  await world.api('PUT /application/settings', { json: settings });
  const coded = await seedCoded(world.gantry, { visibility: 'public' });
  project = coded.id;
  await seedBranch(world.gantry, coded, 'topic');
  [reporter, colleague, guest] = [
    await seedUser(world.gantry),
    await seedUser(world.gantry),
    await seedUser(world.gantry),
  ];
  for (const { id } of [reporter, colleague])
    await seedMember(world.gantry, { user: id, project, access_level: 20 });
  await seedMember(world.gantry, { user: guest.id, project, access_level: 10 });
});
after(async () => {
  await world.close();
  await receiver.close();
});

const secret = 'the-hidden-words';

const newIssue = async (as = guest.token): Promise<string> => {
  const { iid } = await world.issue(project, {}, as);
  return `/projects/${project}/issues/${iid}`;
};

const say = async (path: string, json: object, as = reporter.token) => {
  const reply = await world.api(`POST ${path}/notes`, { as, json });
  assert.equal(reply.status, 201, reply.text);
  return reply.body;
};

const textsOf = async (line: string, as: string): Promise<string> => {
  const { status, text } = await world.api(line, { as });
  assert.equal(status, 200, line);
  return text;
};

for (const kind of ['issue', 'merge request'] as const) {
  describe(`an internal comment on ${kind === 'issue' ? 'an issue' : 'a merge request'}`, () => {
    let path: string;
    before(async () => {
      if (kind === 'issue') path = await newIssue();
      else
        path = `/projects/${project}/merge_requests/${(await openRequest(world.gantry, { id: project }, 'topic')).iid}`;
    });

    it('is seen by reporters, and by nobody below them', async () => {
      const note = await say(path, { body: secret, internal: true });
      assert.deepEqual([note.internal, note.confidential], [true, true]);
      const open = await say(path, { body: 'for all' });
      assert.deepEqual([open.internal, open.confidential], [false, false]);
      const lists = [`${path}/notes`, `${path}/discussions`];
      for (const list of lists) {
        assert.ok((await textsOf(`GET ${list}`, colleague.token)).includes(secret), list);
        const hidden = await world.api(`GET ${list}`, { as: guest.token });
        assert.equal(hidden.text.includes(secret), false, list);
        assert.equal(hidden.headers.get('x-total'), String(hidden.body.length), list);
      }
      const one = `${path}/notes/${note.id}`;
      const lines: [string, object?][] = [
        [`GET ${one}`],
        [`PUT ${one}`, { body: 'x' }],
        [`DELETE ${one}`],
        [`GET ${one}/award_emoji`],
        [`POST ${one}/award_emoji`, { name: 'tada' }],
      ];
      for (const [line, json] of lines) {
        assert.equal((await world.api(line, { as: guest.token, ...(json && { json }) })).status, 404, line);
      }
      assert.equal((await world.api(`GET ${path}`, { as: guest.token })).body.user_notes_count, 1);
      const participants = async (as: string): Promise<number[]> =>
        (await world.api(`GET ${path}/participants`, { as })).body.map(({ id }: { id: number }) => id);
      await say(path, { body: `@${colleague.username}`, internal: true });
      assert.ok((await participants(reporter.token)).includes(colleague.id));
      assert.equal((await participants(guest.token)).includes(colleague.id), false);
    });

    it('is refused from those who could not read it, and changes nothing', async () => {
      for (const json of [{ internal: true }, { confidential: true }]) {
        const sent = { as: guest.token, json: { body: 'Hidden?\n/close', ...json } };
        for (const list of ['notes', 'discussions']) {
          const reply = await world.api(`POST ${path}/${list}`, sent);
          assert.deepEqual(answer(reply), [403, { message: '403 Forbidden' }]);
        }
      }
      assert.equal((await world.api(`GET ${path}`)).body.state, 'opened');
    });

    it('begins a thread whose replies are internal', async () => {
      const json = { body: secret, internal: true };
      const thread = (await world.api(`POST ${path}/discussions`, { as: reporter.token, json })).body;
      assert.equal(thread.notes[0].internal, true);
      const replies = `${path}/discussions/${thread.id}/notes`;
      const reply = await world.api(`POST ${replies}`, { as: colleague.token, json: { body: secret } });
      assert.deepEqual([reply.status, reply.body.internal], [201, true]);
      const one = `${path}/discussions/${thread.id}`;
      const lines: [string, object?][] = [
        [`GET ${one}`],
        [`PUT ${one}`, { resolved: true }],
        [`POST ${replies}`, { body: 'x' }],
      ];
      for (const [line, sent] of lines) {
        const hidden = await world.api(line, { as: guest.token, ...(sent && { json: sent }) });
        assert.equal(hidden.status, 404, line);
      }
      const open = (await world.api(`POST ${path}/discussions`, { as: guest.token, json: { body: 'open' } }))
        .body;
      const refused = await world.api(`POST ${path}/discussions/${open.id}/notes`, {
        as: reporter.token,
        json,
      });
      assert.deepEqual(answer(refused), [
        400,
        { message: { confidential: ['reply should have same confidentiality as top-level note'] } },
      ]);
    });

    it('gives todos to those alone who may read it', async () => {
      const bystander = await seedUser(world.gantry);
      const body = `@${colleague.username} @${guest.username} @${bystander.username} ${secret}`;
      await say(path, { body, internal: true });
      const todos = async (as: string): Promise<string> => await textsOf('GET /todos', as);
      assert.ok((await todos(colleague.token)).includes(secret));
      assert.equal((await todos(guest.token)).includes(secret), false);
      const { subscribed } = (await world.api(`GET ${path}`, { as: bystander.token })).body;
      assert.equal(subscribed, false, 'a hidden mention is none');
      await world.api(`PUT /projects/${project}/members/${colleague.id}`, { json: { access_level: 10 } });
      assert.equal((await todos(colleague.token)).includes(secret), false);
      await world.api(`PUT /projects/${project}/members/${colleague.id}`, { json: { access_level: 20 } });
      await world.api('POST /todos/mark_as_done', { as: colleague.token });
    });

    it('is in the searches, activities and changes of those alone who may read it', async () => {
      const word = `word${Math.random().toString(36).slice(2)}`;
      const { next_after: after } = (await world.api('GET /changes')).body;
      await say(path, { body: word, internal: true });
      const lines = [
        `GET /projects/${project}/search?scope=notes&search=${word}`,
        `GET /projects/${project}/events?target_type=note`,
      ];
      for (const line of lines) {
        assert.ok((await textsOf(line, colleague.token)).includes(word), line);
        assert.equal((await textsOf(line, guest.token)).includes(word), false, line);
      }
      const changed = async (as: string): Promise<boolean> => {
        const { body } = await world.api(`GET /changes?after=${after}`, { as });
        return body.changes.some((one: { kind: string }) => one.kind === 'note');
      };
      assert.deepEqual([await changed(colleague.token), await changed(guest.token)], [true, false]);
    });

    it('reaches hooks for confidential comments alone', async () => {
      const hook = async (below: string, flags: object): Promise<void> => {
        const json = { url: `${receiver.url}/${below}`, push_events: false, ...flags };
        assert.equal((await world.api(`POST /projects/${project}/hooks`, { json })).status, 201);
      };
      const name = kind.replace(' ', '_');
      await hook(`${name}/open`, { note_events: true });
      await hook(`${name}/hidden`, { confidential_note_events: true });
      receiver.clear();
      await say(path, { body: secret, internal: true });
      await world.gantry.service.worker.drain();
      const [sent, ...others] = receiver.received.filter((one) => one.path.startsWith(`/${name}`));
      assert.deepEqual([sent?.path, others.length], [`/${name}/hidden`, 0]);
      assert.deepEqual(
        [sent?.headers['x-gitlab-event'], sent?.body.event_type, sent?.body.object_attributes.internal],
        ['Confidential Note Hook', 'confidential_note', true],
      );
    });

    it('leaves no note on what it mentions', async () => {
      const other = await newIssue();
      await say(path, { body: `See #${other.split('/').at(-1)}`, internal: true });
      const notes = await textsOf(`GET ${other}/notes`, guest.token);
      assert.equal(notes, '[]');
    });

    it('is written and marked on pages', async () => {
      const { visitor } = await seedVisitor(world.gantry, { project, access_level: 20 });
      const below = await seedVisitor(world.gantry, { project, access_level: 10 });
      const { path_with_namespace } = (await world.api(`GET /projects/${project}`)).body;
      const page = `/${path_with_namespace}/${path.split('/').slice(3).join('/')}`;
      const shown = await visitor.get(page);
      assert.ok(shown.text.includes('name="internal"'));
      assert.equal((await below.visitor.get(page)).text.includes('name="internal"'), false);
      const form = { body: 'written-on-a-page', internal: '1', intent: 'comment' };
      const refused = await below.visitor.post(`${page}/notes`, form);
      assert.equal(refused.status, 403);
      await visitor.get(page);
      assert.equal((await visitor.post(`${page}/notes`, form)).status, 303);
      const { text } = await visitor.get(page);
      assert.ok(text.includes('written-on-a-page') && text.includes('Internal note</span>'));
      assert.equal((await below.visitor.get(page)).text.includes('written-on-a-page'), false);
    });
  });
}

it('stays internal when its issue moves, and is not continued in another issue', async () => {
  const path = await newIssue(reporter.token);
  await say(path, { body: secret, internal: true });
  const { id: to } = await world.project({ visibility: 'public' });
  const moved = await world.api(`POST ${path}/move`, { json: { to_project_id: to } });
  const copy = `/projects/${to}/issues/${moved.body.iid}`;
  assert.ok((await textsOf(`GET ${copy}/notes`, 'root-token-of-the-tests')).includes(secret));
  assert.equal((await textsOf(`GET ${copy}/notes`, guest.token)).includes(secret), false);

  await seedBranch(world.gantry, { id: project }, 'continued');
  const { iid } = await openRequest(world.gantry, { id: project }, 'continued');
  const threads = `/projects/${project}/merge_requests/${iid}/discussions`;
  for (const json of [{ body: secret, internal: true }, { body: 'open-words' }])
    await world.api(`POST ${threads}`, { as: reporter.token, json });
  const json = { title: 'Continued', merge_request_to_resolve_discussions_of: iid };
  const issue = await world.api(`POST /projects/${project}/issues`, { as: reporter.token, json });
  assert.deepEqual(
    [issue.body.description.includes(secret), issue.body.description.includes('open-words')],
    [false, true],
  );
});

it('is refused on a line of a diff', async () => {
  await seedBranch(world.gantry, { id: project }, 'lined');
  const { iid } = await openRequest(world.gantry, { id: project }, 'lined');
  const path = `/projects/${project}/merge_requests/${iid}`;
  const { diff_refs } = (await world.api(`GET ${path}`)).body;
  const [change] = (await world.api(`GET ${path}/diffs`)).body;
  const position = {
    position_type: 'text',
    ...diff_refs,
    new_path: change.new_path,
    old_path: change.old_path,
    new_line: 1,
  };
  const json = { body: secret, internal: true, position };
  const reply = await world.api(`POST ${path}/discussions`, { as: reporter.token, json });
  assert.deepEqual(answer(reply), [
    400,
    { message: { confidential: ['can not be set for this type of note'] } },
  ]);
});
