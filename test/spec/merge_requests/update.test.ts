/** API document: `PUT /projects/:id/merge_requests/:merge_request_iid`; behaviour book 3.7, 1.7, 1.11. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { getRepository } from '../../../src/code/repository/get_repository.ts';
import { moveRefs } from '../../../src/code/repository/refs/move_refs.ts';
import { zeroOid } from '../../../src/platform/git/protocol_types.ts';
import { type CodeWorld, type MergeRequest, pathOf, startCodeWorld } from '../code_world.ts';
import { type Team, answer } from '../world.ts';
import { engine } from '../../support/service.ts';
import { getRepositoryPlace } from '../../support/repositories/seed_commits.ts';

let world: CodeWorld;
let team: Team;
before(async () => {
  world = await startCodeWorld();
  team = await world.codeTeam();
});
after(async () => await world.close());

const edited = async (fields: object, json: object): Promise<MergeRequest> => {
  const reply = await world.put(await world.open(team.id, fields), json);
  assert.equal(reply.status, 200, reply.text);
  return reply.body;
};

const put = async (request: MergeRequest, json: object): Promise<MergeRequest> => {
  const reply = await world.put(request, json);
  assert.equal(reply.status, 200, reply.text);
  return reply.body;
};

const read = async (request: MergeRequest): Promise<MergeRequest> => (await world.get(request)).body;

const merged = async (fields: object = {}): Promise<MergeRequest> => {
  const request = await world.open(team.id, fields);
  const reply = await world.api(`PUT ${pathOf(request)}/merge`);
  assert.equal(reply.status, 200, reply.text);
  return reply.body;
};

const deleteBranch = async (project: number, branch: string): Promise<void> => {
  const { platform } = world.gantry.service;
  const place = await getRepositoryPlace(world.gantry, project);
  const ref = `refs/heads/${branch}`;
  const { refs } = await getRepository(platform, place).ask('refs.get', { names: [ref] });
  const updates = [{ ref, old: refs[0]!.target, new: zeroOid }];
  await moveRefs(platform, { project: place, cause: null, kind: 'branch', updates });
};

const atLeastOne = {
  message:
    '400 (Bad request) at least one of assignee_id, assignee_ids, description, discussion_locked, labels, ' +
    'add_labels, remove_labels, reviewer_ids, milestone_id, remove_source_branch, squash, state_event, target_branch, title must be given',
};

describe('at least one of the optional attributes', () => {
  it('none, or only unknown ones: 400', async () => {
    const request = await world.open(team.id);
    assert.deepEqual(answer(await world.put(request, {})), [400, atLeastOne]);
    const unknown = { source_branch: 'x', target_project_id: 5, author_id: 3 };
    assert.deepEqual(answer(await world.put(request, unknown)), [400, atLeastOne]);
  });
  it('is asked after 401 and before 404', async () => {
    assert.equal((await world.api('PUT /projects/999999/merge_requests/1', { as: null })).status, 401);
    assert.equal((await world.api('PUT /projects/999999/merge_requests/1')).status, 400);
  });
});

describe('who may', () => {
  it('developers, and the author and assignees; others 403', async () => {
    const { token: author } = team.developer;
    const request = await world.open(team.id, { assignee_id: team.guest.id }, author);
    const status = async (as: string) => (await world.put(request, { title: 'x' }, { as })).status;
    assert.equal(await status(team.master.token), 200);
    assert.equal(await status(team.guest.token), 200);
    assert.equal(await status(team.reporter.token), 403);
    assert.equal(await status(team.stranger.token), 403);
  });
  it('what is private is hidden from strangers, forbidden to guests', async () => {
    const hidden = await world.codeTeam({ visibility: 'private' });
    const request = await world.open(hidden.id);
    const reply = async (as: string) => answer(await world.put(request, { title: 'x' }, { as }));
    assert.deepEqual(await reply(hidden.stranger.token), [404, { message: '404 Project Not Found' }]);
    assert.deepEqual(await reply(hidden.guest.token), [403, { message: '403 Forbidden' }]);
  });
  it('labels, milestone and assignee of one who is no developer are dropped', async () => {
    const own = await world.codeTeam();
    const request = await world.open(own.id, { assignee_id: own.reporter.id });
    const milestone = await world.milestone(own.id);
    const fields = { title: 'New', labels: 'a', milestone_id: milestone.id, assignee_id: own.guest.id };
    const { body } = await world.put(request, fields, { as: own.reporter.token });
    assert.equal(body.title, 'New');
    assert.deepEqual([body.labels, body.milestone, body.assignee.id], [[], null, own.reporter.id]);
  });
  it('an unknown one: 404', async () => {
    const reply = await world.put({ project_id: team.id, iid: 99_999 }, { title: 'x' });
    assert.deepEqual(answer(reply), [404, { message: '404 Not found' }]);
  });
});

describe('title and description', () => {
  it('are replaced', async () => {
    const { title, description } = await edited({}, { title: ' New ', description: 'Because' });
    assert.deepEqual([title, description], ['New', 'Because']);
  });
  for (const name of ['title', 'target_branch']) {
    for (const value of ['', '  ', null]) {
      it(`${name} ${JSON.stringify(value)}: is empty, nothing applied`, async () => {
        const request = await world.open(team.id);
        const reply = await world.put(request, { [name]: value, state_event: 'close', labels: 'a' });
        assert.deepEqual(answer(reply), [400, { message: { [name]: ['is empty'] } }]);
        assert.deepEqual(await read(request), request);
      });
    }
  }
  it('256 characters are too long', async () => {
    const reply = await world.put(await world.open(team.id), { title: 'x'.repeat(256) });
    assert.deepEqual(answer(reply), [
      400,
      { message: { title: ['is too long (maximum is 255 characters)'] } },
    ]);
  });
  it('a title makes it work in progress, and takes that back', async () => {
    const request = await world.open(team.id, { title: 'Plain' });
    for (const title of [
      'WIP: Plain',
      '[WIP] Plain',
      'wip Plain',
      'Draft: Plain',
      '[Draft] Plain',
      '(draft) Plain',
    ]) {
      const after = await put(request, { title });
      assert.deepEqual([after.work_in_progress, after.draft], [true, true], title);
      assert.equal(after.detailed_merge_status, 'draft_status');
    }
    assert.equal((await put(request, { title: 'Plain' })).work_in_progress, false);
    assert.deepEqual(await world.requestNotes(request), [
      'marked as a **Work In Progress**',
      'unmarked as a **Work In Progress**',
    ]);
  });
  it('are noted as the issues’ are', async () => {
    const request = await world.open(team.id, { title: 'One', description: '- [ ] a task' });
    await put(request, { title: 'Two', description: '- [x] a task' });
    assert.deepEqual(await world.requestNotes(request), [
      'changed title from **{-One-}** to **{+Two+}**',
      'marked the task **a task** as completed',
    ]);
  });
  it('tasks of the description are counted', async () => {
    const { task_completion_status } = await edited({}, { description: '- [ ] a\n- [x] b\n* [x] c\n[ ] d' });
    assert.deepEqual(task_completion_status, { count: 3, completed_count: 2 });
  });
});

describe('state_event', () => {
  it('closes an open one: who and when', async () => {
    const request = await world.open(team.id);
    const closed = await put(request, { state_event: 'close' });
    assert.equal(closed.state, 'closed');
    assert.equal(closed.closed_by.id, 1);
    assert.equal(closed.closed_at, closed.updated_at);
    assert.equal(closed.detailed_merge_status, 'not_open');
    assert.deepEqual(await world.requestNotes(request), ['closed']);
    assert.deepEqual(
      (await world.events('MergeRequest', request.id)).map(({ kind }) => kind),
      ['merge_request.created', 'merge_request.closed'],
    );
  });
  it('reopens a closed one: a new look, with the same iid', async () => {
    const request = await put(await world.open(team.id), { state_event: 'close' });
    await world.branch(team.id, { branch: request.source_branch });
    const open = await put(request, { state_event: 'reopen' });
    assert.deepEqual([open.state, open.iid], ['opened', request.iid]);
    assert.deepEqual([open.closed_at, open.closed_by], [null, null]);
    assert.equal(open.merge_status, 'can_be_merged');
    assert.deepEqual(await world.requestNotes(request), ['closed', 'reopened']);
    assert.equal((await world.get(open, '/versions')).body.length, 2);
  });
  it('what does not apply changes nothing', async () => {
    const open = await world.open(team.id);
    assert.deepEqual(await put(open, { state_event: 'reopen' }), open);
    const closed = await put(open, { state_event: 'close' });
    assert.deepEqual(await put(closed, { state_event: 'close' }), closed);
    const done = await merged();
    assert.deepEqual(await put(done, { state_event: 'close' }), done);
    assert.deepEqual(await put(done, { state_event: 'reopen' }), done);
    assert.deepEqual(await world.requestNotes(done), ['merged']);
  });
  it('another value: 400', async () => {
    const reply = await world.put(await world.open(team.id), { state_event: 'merge' });
    assert.deepEqual(answer(reply), [400, { message: { state_event: ['does not have a valid value'] } }]);
  });
  it('reopen, with another open one of the same branches: 409', async () => {
    const closed = await put(await world.open(team.id), { state_event: 'close' });
    const { iid } = await world.open(team.id, { source_branch: closed.source_branch });
    assert.deepEqual(answer(await world.put(closed, { state_event: 'reopen', title: 'x' })), [
      409,
      { message: [`Another open merge request already exists for this source branch: !${iid}`] },
    ]);
    assert.deepEqual(await read(closed), closed);
  });
  it('reopen, with the source branch gone: 400', async () => {
    const closed = await put(await world.open(team.id), { state_event: 'close' });
    await deleteBranch(team.id, closed.source_branch);
    assert.deepEqual(answer(await world.put(closed, { state_event: 'reopen' })), [
      400,
      { message: { source_branch: ['does not exist'] } },
    ]);
  });
  it('a broken one can be closed', async () => {
    const request = await world.open(team.id);
    await deleteBranch(team.id, request.source_branch);
    assert.equal((await put(request, { state_event: 'close' })).state, 'closed');
  });
  it('counts in the exact totals of the lists', async () => {
    const own = await world.codeTeam();
    const request = await world.open(own.id);
    const totals = async () =>
      await Promise.all(
        ['opened', 'closed', 'all'].map(async (state) => {
          const { headers } = await world.api(
            `GET /projects/${own.id}/merge_requests?state=${state}&per_page=1`,
          );
          return Number(headers.get('x-total'));
        }),
      );
    await world.open(own.id);
    await put(request, { state_event: 'close' });
    assert.deepEqual(await totals(), [1, 1, 2]);
    await put(request, { state_event: 'reopen' });
    assert.deepEqual(await totals(), [2, 0, 2]);
  });
});

describe('target_branch', () => {
  it('of an open one changes, with a new version, unchecked, and a note', async () => {
    const other = await world.branch(team.id);
    const request = await world.open(team.id);
    const after = await put(request, { target_branch: other });
    assert.equal(after.target_branch, other);
    assert.equal((await world.get(request, '/versions')).body.length, 2);
    assert.deepEqual(await world.requestNotes(request), [
      `changed target branch from \`main\` to \`${other}\``,
    ]);
    assert.deepEqual(await put(request, { target_branch: other }), after);
  });
  it('the source branch itself: 422', async () => {
    const request = await world.open(team.id);
    assert.deepEqual(answer(await world.put(request, { target_branch: request.source_branch })), [
      422,
      { message: ["You can't use same project/branch for source and target"] },
    ]);
  });
  it('that another open one goes to: 409', async () => {
    const other = await world.branch(team.id);
    const { source_branch, iid } = await world.open(team.id, { target_branch: other });
    const request = await world.open(team.id, { source_branch });
    assert.deepEqual(answer(await world.put(request, { target_branch: other })), [
      409,
      { message: [`Another open merge request already exists for this source branch: !${iid}`] },
    ]);
  });
  it('that another one takes at the same moment: 409 that names it', async () => {
    const [first_target, second_target] = [await world.branch(team.id), await world.branch(team.id)];
    const { id, iid, source_branch } = await world.open(team.id, { target_branch: first_target });
    const request = await world.open(team.id, { source_branch });
    const isWaiting = sql`select 1 from pg_locks where pg_backend_pid() = any(pg_blocking_pids(pid))`;
    const { reply } = await world.gantry.service.platform.store.write(async (tx) => {
      await tx.db
        .updateTable('merge_requests')
        .set({ target_branch: second_target })
        .where('id', '=', id)
        .execute();
      let isOpen = engine === 'postgres';
      const sent = world.put(request, { target_branch: second_target }).finally(() => (isOpen = false));
      // On SQLite the request waits for this transaction before its own begins.
      while (isOpen && (await isWaiting.execute(tx.db)).rows.length === 0) await wait(20);
      return { reply: sent };
    });
    assert.deepEqual(answer(await reply), [
      409,
      { message: [`Another open merge request already exists for this source branch: !${iid}`] },
    ]);
  });
  it('that does not exist: 400', async () => {
    const reply = await world.put(await world.open(team.id), { target_branch: 'none' });
    assert.deepEqual(answer(reply), [400, { message: { target_branch: ['does not exist'] } }]);
  });
  it('of one that is not open is kept; reopening takes it', async () => {
    const other = await world.branch(team.id);
    const closed = await put(await world.open(team.id), { state_event: 'close' });
    assert.deepEqual(await put(closed, { target_branch: other }), closed);
    const open = await put(closed, { state_event: 'reopen', target_branch: other });
    assert.deepEqual([open.state, open.target_branch], ['opened', other]);
  });
});

describe('other attributes', () => {
  it('remove_source_branch is honoured both ways', async () => {
    const request = await world.open(team.id);
    assert.equal((await put(request, { remove_source_branch: true })).force_remove_source_branch, true);
    assert.equal((await put(request, { remove_source_branch: false })).force_remove_source_branch, false);
  });
  it('squash', async () => {
    assert.equal((await edited({}, { squash: true })).squash, true);
  });
  it('labels: absent or null stay, empty clears, else all are replaced; added and taken away', async () => {
    const fields = { labels: 'a,b' };
    assert.deepEqual((await edited(fields, { title: 'x' })).labels, ['a', 'b']);
    assert.deepEqual((await edited(fields, { labels: null, title: 'x' })).labels, ['a', 'b']);
    assert.deepEqual((await edited(fields, { labels: null })).labels, ['a', 'b']);
    assert.deepEqual((await edited(fields, { labels: '' })).labels, []);
    assert.deepEqual((await edited(fields, { labels: 'c' })).labels, ['c']);
    assert.deepEqual((await edited(fields, { add_labels: 'c', remove_labels: 'a' })).labels, ['b', 'c']);
  });
  it('assignee_id: 0 and null clear, an unknown one changes nothing', async () => {
    const fields = { assignee_id: team.reporter.id };
    assert.equal((await edited(fields, { assignee_id: team.master.id })).assignee.id, team.master.id);
    assert.equal((await edited(fields, { assignee_id: 0 })).assignee, null);
    assert.equal((await edited(fields, { assignee_id: null })).assignee, null);
    assert.equal((await edited(fields, { assignee_id: 999_999 })).assignee.id, team.reporter.id);
  });
  it('assignees are noted as one is replaced by another', async () => {
    const request = await world.open(team.id);
    await put(request, { assignee_id: team.reporter.id });
    await put(request, { assignee_id: team.master.id });
    await put(request, { assignee_id: 0 });
    assert.deepEqual(await world.requestNotes(request), [
      `assigned to @${team.reporter.username}`,
      `assigned to @${team.master.username}`,
      'removed assignee',
    ]);
  });
  it('milestone_id: 0, empty and unknown clear', async () => {
    const milestone = await world.milestone(team.id);
    const fields = { milestone_id: milestone.id };
    for (const milestone_id of [0, '', 999_999, null]) {
      assert.equal((await edited(fields, { milestone_id })).milestone, null);
    }
    const request = await world.open(team.id);
    assert.equal((await put(request, fields)).milestone.id, milestone.id);
    assert.deepEqual(await world.requestNotes(request), [`changed milestone to %${milestone.iid}`]);
  });
  it('of a merged one: title, description and labels may be edited', async () => {
    const done = await merged();
    const after = await put(done, { title: 'Later', description: 'x', labels: 'done' });
    assert.deepEqual([after.title, after.description, after.labels], ['Later', 'x', ['done']]);
    assert.equal(after.state, 'merged');
  });
  it('labels edited by one are there for the next: no answer is old', async () => {
    const request = await world.open(team.id);
    await read(request);
    await put(request, { labels: 'fresh' });
    assert.deepEqual((await read(request)).labels, ['fresh']);
    const { body } = await world.api(`GET /projects/${team.id}/merge_requests?iids[]=${request.iid}`);
    assert.deepEqual(body[0].labels, ['fresh']);
  });
});

describe('what follows', () => {
  it('updated_at rises with every effective change and no other', async () => {
    const request = await world.open(team.id);
    const times: string[] = [request.updated_at];
    for (const fields of [{ title: 'x' }, { labels: 'a' }, { assignee_id: 1 }, { state_event: 'close' }]) {
      times.push((await put(request, fields)).updated_at);
    }
    assert.deepEqual(
      times,
      [...new Set(times)].toSorted((a, b) => (a < b ? -1 : 1)),
    );
    assert.equal((await put(request, { title: 'x', labels: 'a' })).updated_at, times.at(-1));
  });
  it('a todo of the editor is done by what looks after the request', async () => {
    for (const fields of [
      { title: 'x' },
      { description: 'x' },
      { labels: 'x' },
      { state_event: 'close' },
      { target_branch: await world.branch(team.id) },
    ]) {
      const request = await world.open(team.id);
      await world.api(`POST ${pathOf(request)}/todo`);
      await put(request, fields);
      assert.deepEqual(
        (await world.requestTodos(request)).map(({ state }) => state),
        ['done'],
        JSON.stringify(fields),
      );
    }
  });
  it('new assignees and newly mentioned users get todos', async () => {
    const request = await world.open(team.id, { description: `@${team.guest.username}` });
    const description = `@${team.guest.username} and @${team.reporter.username}`;
    await put(request, { description, assignee_id: team.master.id });
    assert.deepEqual(
      (await world.requestTodos(request)).map(({ user_id, action }) => [user_id, action]),
      [
        [team.guest.id, 'directly_addressed'],
        [team.reporter.id, 'mentioned'],
        [team.master.id, 'assigned'],
      ],
    );
  });
  it('the issues that it closes are those of the new text', async () => {
    const [one, two] = [await world.issue(team.id), await world.issue(team.id)];
    const request = await world.open(team.id, { description: `Closes #${one.iid}` });
    await put(request, { description: `Closes #${two.iid}` });
    const closers = async (iid: number) =>
      (await world.api(`GET /projects/${team.id}/issues/${iid}/closed_by`)).body.map(
        ({ id }: { id: number }) => id,
      );
    assert.deepEqual(await closers(one.iid), []);
    assert.deepEqual(await closers(two.iid), [request.id]);
  });
  it('a search finds the new title, not the old one', async () => {
    const request = await world.open(team.id, { title: 'Quokka' });
    await put(request, { title: 'Wombat' });
    const found = async (text: string) =>
      (await world.api(`GET /projects/${team.id}/merge_requests?search=${text}`)).body.length;
    assert.deepEqual([await found('quokka'), await found('wombat')], [0, 1]);
  });
  it('of many edits at once, none is lost', async () => {
    const request = await world.open(team.id);
    const edits = [
      { title: 'New' },
      { description: 'New' },
      { add_labels: 'a' },
      { add_labels: 'b' },
      { squash: true },
    ];
    const replies = await Promise.all(edits.map(async (fields) => await world.put(request, fields)));
    for (const { status } of replies) assert.equal(status, 200);
    const { title, description, labels, squash } = await read(request);
    assert.deepEqual([title, description, labels, squash], ['New', 'New', ['a', 'b'], true]);
  });
});
