/** Pages of boards: columns, moves by form, and the forms that edit a board; of projects and of groups. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { settle } from '../../../../../test/support/seed_merge_requests.ts';
import { loggedRequest } from '../../../../../test/support/request_log.ts';
import { seedGroup, seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let group: { id: number; full_path: string };
let project: { id: number; full_path: string };
let reporter: Visitor;
let guest: Visitor;
let stranger: Visitor;

const someone = async (level: number | null): Promise<Visitor> =>
  (await seedVisitor(gantry, { group: group.id, access_level: level })).visitor;

before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'info' });
  group = await seedGroup(gantry, { visibility: 'private' });
  project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  [reporter, guest, stranger] = [await someone(20), await someone(10), await someone(null)];
});
after(async () => await gantry.close());

// oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
const must = async (line: string, json?: object): Promise<any> => {
  const { status, body, text } = await gantry.api(line, json === undefined ? {} : { json });
  assert.ok(status < 300, `${line}: ${status} ${text}`);
  return body;
};

type Setup = {
  path: string;
  board: number;
  lists: Record<string, number>;
  labels: Record<string, number>;
  /** A new issue. */
  issue: (fields?: object) => Promise<{ id: number; iid: number }>;
  read: (
    iid: number,
  ) => Promise<{ labels: string[]; state: string; assignees: object[]; milestone: object | null }>;
};

let count = 0;

/** Statements of a board's page. */
const statementsOf = async (visitor: Visitor, path: string): Promise<number> => {
  const { status, headers } = await visitor.get(path);
  assert.equal(status, 200);
  return (await loggedRequest(gantry, headers)).statements;
};

/** A board with lists of the labels `todo` and `doing`, of root, and of a milestone, in a project of its own. */
const setUp = async (): Promise<
  Setup & { project: { id: number; full_path: string }; milestone: number }
> => {
  const own = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  const api = `/projects/${own.id}`;
  const { id: board } = await must(`POST ${api}/boards`, { name: 'Work' });
  const labels: Record<string, number> = {};
  const lists: Record<string, number> = {};
  for (const name of ['todo', 'doing']) {
    labels[name] = (await must(`POST ${api}/labels`, { name, color: '#112233' })).id;
    lists[name] = (await must(`POST ${api}/boards/${board}/lists`, { label_id: labels[name] })).id;
  }
  lists['root'] = (await must(`POST ${api}/boards/${board}/lists`, { assignee_id: 1 })).id;
  const milestone = (await must(`POST ${api}/milestones`, { title: 'v1' })).id;
  lists['v1'] = (await must(`POST ${api}/boards/${board}/lists`, { milestone_id: milestone })).id;
  return {
    path: `/${own.full_path}/-/boards/${board}`,
    board,
    lists,
    labels,
    project: own,
    milestone,
    issue: async (fields = {}) =>
      await must(`POST ${api}/issues`, { title: `Issue ${(count += 1)}`, ...fields }),
    read: async (iid) => await must(`GET ${api}/issues/${iid}`),
  };
};

/** Columns of a page: key, shown count and ids of cards. */
const columnsIn = (text: string): Record<string, { count: string; cards: number[] }> =>
  Object.fromEntries(
    [...text.matchAll(/<section class="column"[^>]* data-list="(\w+)"([\s\S]*?)<\/section>/g)].map(
      ([, key = '', part = '']) => [
        key,
        {
          count: (/<h2>[\s\S]*?<\/h2><span[^>]*>([\s\S]*?)<\/span>/.exec(part)?.[1] ?? '').replaceAll(
            /<[^>]+>/g,
            '',
          ),
          cards: [...part.matchAll(/data-card="(\d+)"/g)].map(([, id]) => Number(id)),
        },
      ],
    ),
  );

const read = async (visitor: Visitor, path: string) => {
  const { status, text } = await visitor.get(path);
  assert.equal(status, 200, text);
  return { text, columns: columnsIn(text) };
};

const move = async (visitor: Visitor, path: string, value: (string | number)[], query = '') =>
  await visitor.post(`${path}/move`, { move: value.join(':'), query });

describe('a board', () => {
  test('shows each issue in the columns that it belongs to, with exact counts', async () => {
    const { path, lists, issue } = await setUp();
    const plain = await issue();
    const todo = await issue({ labels: 'todo', due_date: '2001-02-03', confidential: true });
    const both = await issue({ labels: 'todo,doing', assignee_ids: [1] });
    const planned = await issue({ milestone_id: undefined });
    const closed = await issue({ labels: 'doing' });
    await must(`PUT /projects/${(closed as { project_id?: number }).project_id}/issues/${closed.iid}`, {
      state_event: 'close',
    });
    await must(`PUT /projects/${(planned as { project_id?: number }).project_id}/issues/${planned.iid}`, {
      milestone_id: (
        await must(`GET /projects/${(planned as { project_id?: number }).project_id}/milestones`)
      )[0].id,
    });
    const { text, columns } = await read(reporter, path);
    assert.deepEqual(columns, {
      open: { count: '1', cards: [plain.id] },
      [lists['todo'] ?? 0]: { count: '2', cards: [todo.id, both.id] },
      [lists['doing'] ?? 0]: { count: '1', cards: [both.id] },
      [lists['root'] ?? 0]: { count: '1', cards: [both.id] },
      [lists['v1'] ?? 0]: { count: '1', cards: [planned.id] },
      closed: { count: '1', cards: [closed.id] },
    });
    assert.match(text, /Confidential[\s\S]+3 Feb 2001<\/time>, overdue/);
    // A guest sees neither the confidential issue nor its number, and no buttons.
    const seen = await read(guest, path);
    assert.deepEqual(seen.columns[lists['todo'] ?? 0], { count: '1', cards: [both.id] });
    assert.doesNotMatch(seen.text, /name="move"|Edit board|data-movable/);
    assert.equal((await stranger.get(path)).status, 404);
    assert.match((await openVisitor(gantry).get(path)).location ?? '', /sign_in/);
  });

  test('filters, and comes back with the filter after a move', async () => {
    const { path, lists, issue } = await setUp();
    const one = await issue({ title: 'Needle', labels: 'todo,bug' });
    await issue({ labels: 'todo' });
    const { text, columns } = await read(reporter, `${path}?labels=bug`);
    assert.deepEqual(columns[lists['todo'] ?? 0], { count: '1', cards: [one.id] });
    assert.match(text, /name="query" value="labels=bug"/);
    const { location } = await reporter.get(`${path}?q=label%3Abug`);
    assert.equal(location, `${path}?labels=bug`);
    const moved = await move(
      reporter,
      path,
      [one.id, lists['todo'] ?? 0, lists['doing'] ?? 0, '', ''],
      'labels=bug',
    );
    assert.equal(moved.location, `${path}?labels=bug#card-${one.id}`);
  });

  test('a board warns of a column with more issues than its limit', async () => {
    const { path, lists, project: own, board, issue } = await setUp();
    await must(`PUT /projects/${own.id}/boards/${board}/lists/${lists['todo']}`, { max_issue_count: 1 });
    await issue({ labels: 'todo' });
    assert.equal((await read(reporter, path)).columns[lists['todo'] ?? 0]?.count, '1 of 1');
    await issue({ labels: 'todo' });
    assert.match(
      (await read(reporter, path)).columns[lists['todo'] ?? 0]?.count ?? '',
      /2 of 1, over the limit/,
    );
  });

  test('shows the first twenty issues of a column, and more on request', async () => {
    const { path, issue } = await setUp();
    for (let at = 0; at < 22; at += 1) await issue();
    const { text, columns } = await read(reporter, path);
    assert.deepEqual([columns['open']?.count, columns['open']?.cards.length], ['22', 20]);
    const [, href = ''] = /<a href="([^"#]+)#list-open">Show more/.exec(text) ?? [];
    const more = await read(reporter, href.replaceAll('&amp;', '&'));
    assert.equal(more.columns['open']?.cards.length, 22);
    assert.doesNotMatch(more.text, /Show more/);
  });

  test('takes as many statements for many cards as for few', async () => {
    const { path, issue } = await setUp();
    const fill = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at += 1) {
        await issue({ labels: at % 2 === 0 ? 'todo' : 'doing', assignee_ids: [1] });
      }
    };
    await fill(4);
    await reporter.get(path);
    await fill(2);
    const few = await statementsOf(reporter, path);
    await fill(24);
    assert.equal(await statementsOf(reporter, path), few);
    assert.ok(few > 0 && few <= 30, `${few} statements`);
  });

  test('counts issues exactly that have labels of several lists, for each viewer', async () => {
    const place = await seedGroup(gantry, { visibility: 'private' });
    const [own, other] = [
      await seedProject(gantry, { namespace: place.id, visibility: 'private' }),
      await seedProject(gantry, { namespace: place.id, visibility: 'private' }),
    ];
    const [member, visitor] = [
      await seedVisitor(gantry, { group: place.id, access_level: 20 }),
      await seedVisitor(gantry, { group: place.id, access_level: 10 }),
    ];
    const api = `/projects/${own.id}`;
    const { id: board } = await must(`POST ${api}/boards`, { name: 'Labels' });
    const lists: number[] = [];
    for (const name of ['a', 'b', 'c']) {
      const { id: label_id } = await must(`POST /groups/${place.id}/labels`, { name, color: '#112233' });
      lists.push((await must(`POST ${api}/boards/${board}/lists`, { label_id })).id);
    }
    const make = async (labels: string, fields: object = {}): Promise<{ iid: number }> =>
      await must(`POST ${api}/issues`, { title: 'Issue', labels, ...fields });
    const path = `/${own.full_path}/-/boards/${board}`;
    const counts = async (by: Visitor): Promise<string[]> => {
      const { columns } = await read(by, path);
      return ['open', ...lists, 'closed'].map((key) => columns[key]?.count ?? '');
    };
    for (const labels of ['', 'a', 'a', 'a,b', 'a,b,c', 'b', 'b,c']) await make(labels);
    for (let at = 0; at < 12; at += 1) await make('');
    await must(`POST /projects/${other.id}/issues`, { title: 'Elsewhere', labels: 'b,c' });
    assert.deepEqual(await counts(member.visitor), ['13', '4', '4', '2', '0']);
    assert.deepEqual(await counts(visitor.visitor), ['13', '4', '4', '2', '0']);
    const secret = await make('b,c', { confidential: true });
    assert.deepEqual(await counts(member.visitor), ['13', '4', '5', '3', '0']);
    assert.deepEqual(await counts(visitor.visitor), ['13', '4', '4', '2', '0']);
    await must(`PUT ${api}/issues/${secret.iid}`, { labels: '', confidential: false });
    assert.deepEqual(await counts(visitor.visitor), ['14', '4', '4', '2', '0']);
    await must(`PUT ${api}/issues/4`, { state_event: 'close' });
    assert.equal((await gantry.api(`DELETE ${api}/issues/5`)).status, 204);
    assert.deepEqual(await counts(member.visitor), ['14', '2', '2', '1', '1']);
    await must(`PUT ${api}/boards/${board}`, { hide_backlog_list: true });
    assert.deepEqual(await counts(member.visitor), ['', '2', '2', '1', '1']);
  });

  test('is limited to the labels, assignee and milestone that it is about', async () => {
    const { path, project: own, board, lists, issue } = await setUp();
    const about = await issue({ labels: 'bug,todo' });
    await issue({ labels: 'todo' });
    await must(`PUT /projects/${own.id}/boards/${board}`, { labels: 'bug', hide_closed_list: true });
    const { columns } = await read(reporter, path);
    assert.deepEqual(columns[lists['todo'] ?? 0]?.cards, [about.id]);
    assert.equal(columns['closed'], undefined);
  });
});

describe('a move', () => {
  const at = (value: number | undefined): number => value ?? 0;

  test('between labels exchanges them; to Open removes those of the board; to Closed closes', async () => {
    const { path, lists, issue, read: readIssue } = await setUp();
    const { id, iid } = await issue({ labels: 'bug' });
    const go = async (from: string | number, to: string | number) => {
      const { status, text } = await move(reporter, path, [id, from, to, '', '']);
      assert.equal(status, 303, text);
      const { labels, state } = await readIssue(iid);
      return [labels, state];
    };
    assert.deepEqual(await go('open', at(lists['todo'])), [['bug', 'todo'], 'opened']);
    assert.deepEqual(await go(at(lists['todo']), at(lists['doing'])), [['bug', 'doing'], 'opened']);
    assert.deepEqual(await go(at(lists['doing']), 'open'), [['bug'], 'opened']);
    await go('open', at(lists['todo']));
    assert.deepEqual(await go(at(lists['todo']), 'closed'), [['bug'], 'closed']);
    assert.deepEqual(await go('closed', at(lists['doing'])), [['bug', 'doing'], 'opened']);
  });

  test('to an assignee or a milestone sets it, and keeps the label', async () => {
    const { path, lists, issue, read: readIssue, milestone } = await setUp();
    const { id, iid } = await issue({ labels: 'todo' });
    const go = async (from: string | number, to: string | number) => {
      assert.equal((await move(reporter, path, [id, from, to, '', ''])).status, 303);
      const { labels, assignees, milestone: its } = await readIssue(iid);
      return [
        labels,
        assignees.map((one) => (one as { id: number }).id),
        (its as { id: number } | null)?.id ?? null,
      ];
    };
    assert.deepEqual(await go(at(lists['todo']), at(lists['root'])), [['todo'], [1], null]);
    assert.deepEqual(await go(at(lists['root']), at(lists['v1'])), [['todo'], [1], milestone]);
    assert.deepEqual(await go(at(lists['v1']), 'open'), [[], [1], null]);
    assert.deepEqual(await go(at(lists['root']), 'open'), [[], [], null]);
  });

  test('puts the card where it is dropped, and up and down by the buttons of its menu', async () => {
    const { path, lists, issue } = await setUp();
    const [a, b, c] = [await issue({ labels: 'todo' }), await issue({ labels: 'todo' }), await issue()];
    await move(reporter, path, [c.id, 'open', at(lists['todo']), a.id, b.id]);
    const cards = async () => (await read(reporter, path)).columns[at(lists['todo'])]?.cards;
    assert.deepEqual(await cards(), [a.id, c.id, b.id]);
    const press = async (id: number, key: string) => {
      const { text } = await reporter.get(path);
      const card = text.slice(text.indexOf(`data-card="${id}"`));
      const [, value = ''] = new RegExp(`value="([^"]+)" data-move="${key}"`).exec(card) ?? [];
      await reporter.post(`${path}/move`, { move: value, query: '' });
      return await cards();
    };
    assert.deepEqual(await press(b.id, 'up'), [a.id, b.id, c.id]);
    assert.deepEqual(await press(a.id, 'down'), [b.id, a.id, c.id]);
  });

  test('lets authors without a role order and close their own cards', async () => {
    const { project: own, path, lists, issue, read: readIssue } = await setUp();
    const others = await issue();
    const { location } = await guest.post(`/${own.full_path}/issues`, { title: 'Mine' });
    const iid = Number(location?.split('/').at(-1));
    const { id } = await must(`GET /projects/${own.id}/issues/${iid}`);
    const { text } = await read(guest, path);
    const cardOf = (one: number): string =>
      /^[\s\S]*?<\/li>/.exec(text.split(`id="card-${one}"`)[1] ?? '')?.[0] ?? '';
    assert.match(cardOf(id), /data-movable="closed"/);
    assert.match(cardOf(id), new RegExp(`value="${id}:open:closed::"`));
    assert.doesNotMatch(cardOf(id), new RegExp(`value="${id}:open:${lists['todo']}:`));
    assert.doesNotMatch(cardOf(others.id), /data-movable|name="move"/);
    assert.equal((await move(guest, path, [id, 'open', 'open', '', others.id])).status, 303);
    assert.equal((await move(guest, path, [id, 'open', at(lists['todo']), '', ''])).status, 403);
    assert.equal((await move(guest, path, [id, 'open', 'closed', '', ''])).status, 303);
    assert.equal((await readIssue(iid)).state, 'closed');
  });

  test('lets authors without a role reopen their own cards, unless that takes a label', async () => {
    const { project: own, path, lists, read: readIssue } = await setUp();
    const { location } = await guest.post(`/${own.full_path}/issues`, { title: 'Mine' });
    const iid = Number(location?.split('/').at(-1));
    const issuePath = `/projects/${own.id}/issues/${iid}`;
    const { id } = await must(`PUT ${issuePath}`, { labels: 'bug', state_event: 'close' });
    const cardOf = async (): Promise<string> =>
      /^[\s\S]*?<\/li>/.exec((await read(guest, path)).text.split(`id="card-${id}"`)[1] ?? '')?.[0] ?? '';
    assert.match(await cardOf(), /data-movable="open"/);
    assert.deepEqual(
      [...(await cardOf()).matchAll(/name="move" value="([^"]*)"/g)].map(([, value]) => value),
      [`${id}:closed:open::`],
    );
    for (const to of ['todo', 'root', 'v1'])
      assert.equal((await move(guest, path, [id, 'closed', at(lists[to]), '', ''])).status, 403, to);
    assert.equal((await readIssue(iid)).state, 'closed');
    assert.equal((await move(guest, path, [id, 'closed', 'open', '', ''])).status, 303);
    assert.deepEqual([(await readIssue(iid)).state, (await readIssue(iid)).labels], ['opened', ['bug']]);
    await must(`PUT ${issuePath}`, { labels: 'todo', state_event: 'close' });
    assert.doesNotMatch(await cardOf(), /data-movable|name="move"/);
    assert.equal((await move(guest, path, [id, 'closed', 'open', '', ''])).status, 403);
    assert.deepEqual([(await readIssue(iid)).state, (await readIssue(iid)).labels], ['closed', ['todo']]);
  });

  test('is refused to others, and of issues and columns of others', async () => {
    const { path, lists, issue, read: readIssue } = await setUp();
    const other = await setUp();
    const { id, iid } = await issue();
    const foreign = await other.issue();
    const status = async (visitor: Visitor, value: (string | number)[], board = path) =>
      (await move(visitor, board, value)).status;
    const toTodo = [id, 'open', at(lists['todo']), '', ''];
    assert.equal(await status(guest, toTodo), 403);
    assert.equal(await status(stranger, toTodo), 404);
    assert.equal(await status(reporter, [foreign.id, 'open', at(lists['todo']), '', '']), 404);
    assert.equal(await status(reporter, [id, 'open', at(other.lists['todo']), '', '']), 400);
    assert.equal(await status(reporter, [id, 'open', at(lists['todo']), foreign.id, '']), 303);
    assert.equal(await status(reporter, [id, 'open', at(lists['todo']), 2 ** 40, '']), 422);
    assert.equal(await status(reporter, ['x', 'open', 'closed', '', '']), 404);
    assert.deepEqual((await readIssue(iid)).labels, ['todo']);
    const { status: without } = await reporter.post(`${path}/move`, {
      authenticity_token: null,
      move: [id, at(lists['todo']), 'closed', '', ''].join(':'),
    });
    assert.equal(without, 422);
    assert.equal((await readIssue(iid)).state, 'opened');
  });
});

describe('forms of boards', () => {
  test('create, edit and delete a board and its lists', async () => {
    const path = `/${project.full_path}/-/boards`;
    assert.match((await reporter.get(path)).text, /No boards yet[\s\S]+Create board/);
    assert.doesNotMatch((await guest.get(path)).text, /Create board/);
    const { location } = await reporter.post(path, { name: 'Development' });
    const board = (location ?? '').replace('/edit', '');
    assert.match(board, new RegExp(`^${path}/\\d+$`));
    assert.equal((await reporter.get(path)).location, board);
    await must(`POST /projects/${project.id}/labels`, { name: 'ready', color: '#123456' });
    await must(`POST /projects/${project.id}/milestones`, { title: 'v2' });
    const edit = `${board}/edit`;
    for (const fields of [{ label: 'ready' }, { assignee: '@root' }, { milestone: 'v2' }]) {
      assert.equal((await reporter.post(`${board}/lists`, fields as Record<string, string>)).location, edit);
    }
    const boardId = Number(board.split('/').at(-1));
    const lists = async () => (await must(`GET /projects/${project.id}/boards/${boardId}`)).lists;
    const [ready, root] = await lists();
    await reporter.post(`${board}/lists/${root.id}`, { position: '0' });
    await reporter.post(`${board}/lists/${ready.id}`, { max_issue_count: '4' });
    const invalidLimit = await reporter.post(`${board}/lists/${ready.id}`, { max_issue_count: '-1' });
    assert.equal(invalidLimit.status, 422);
    assert.match(invalidLimit.text, /role="alert">Limit of ready must be greater/);
    const [, own = ''] =
      new RegExp(`<input (id="limit_${ready.id}"[^>]*>.*?</p>)`).exec(invalidLimit.text) ?? [];
    assert.match(
      own,
      /value="-1" aria-describedby="(limit_\d+_error)" aria-invalid="true">.*id="\1">Limit of ready/,
    );
    assert.equal(invalidLimit.text.match(/aria-invalid/g)?.length, 1);
    assert.deepEqual(
      (await lists())
        .map((one: { id: number; max_issue_count: number }) => [one.id, one.max_issue_count])
        .slice(0, 2),
      [
        [root.id, 0],
        [ready.id, 4],
      ],
    );
    await reporter.post(`${board}/lists/${root.id}/delete`);
    assert.equal((await lists()).length, 2);
    const bad = await reporter.post(`${board}/lists`, { label: 'none' });
    assert.match(bad.text, /No label has this name/);
    assert.equal(bad.status, 422);
    assert.match((await reporter.post(`${board}/lists`, { label: 'ready' })).text, /already been taken/);
    const saved = {
      name: 'Work',
      show_open: '0',
      show_closed: '1',
      labels: 'ready',
      assignee: 'root',
      milestone: 'v2',
    };
    assert.equal((await reporter.post(board, saved)).location, board);
    const { text, columns } = await read(reporter, board);
    assert.match(text, /Only issues of[\s\S]+v2[\s\S]+assigned to Administrator[\s\S]+ready/);
    assert.equal(columns['open'], undefined);
    assert.match(
      (await reporter.post(board, { ...saved, assignee: 'nobody-at-all' })).text,
      /No user has this name/,
    );
    const long = 'x'.repeat(256);
    const refused = await reporter.post(board, {
      ...saved,
      show_open: '1',
      show_closed: '0',
      assignee: long,
    });
    assert.deepEqual([refused.status, /Only of this assignee is too long/.test(refused.text)], [422, true]);
    assert.match(refused.text, /value="Work"[\s\S]+name="show_open"[^>]+value="1" checked/);
    assert.match(refused.text, /name="show_closed" type="checkbox" value="1">/);
    assert.ok(refused.text.includes(`value="${long}"`));
    const list = await reporter.post(`${board}/lists`, { milestone: long, on_board: '1', query: 'search=a' });
    assert.deepEqual([list.status, /Milestone is too long/.test(list.text)], [422, true]);
    assert.ok(list.text.includes('name="query" value="search=a"'));
    assert.equal((await guest.post(board, saved)).status, 403);
    assert.equal((await guest.get(edit)).status, 403);
    assert.equal((await reporter.post(`${board}/delete`)).location, path);
    assert.equal((await reporter.get(board)).status, 404);
  });

  test('create an issue first in its column, with what the column stands for', async () => {
    const { path, lists, issue, read: readIssue } = await setUp();
    const first = await issue({ labels: 'todo' });
    const { text } = await reporter.get(path);
    const column =
      new RegExp(`<section class="column" id="list-${lists['todo']}"[^]*?</section>`).exec(text)?.[0] ?? '';
    assert.match(
      column,
      new RegExp(`<form method="post" action="${path}/issues">[^]+name="list" value="${lists['todo']}"`),
    );
    assert.match((await reporter.get(`${path}/issues/new?list=${lists['todo']}`)).text, /In the column todo/);
    const form = { list: String(lists['todo']), query: '', title: 'Made here' };
    assert.equal((await reporter.post(`${path}/issues`, form)).status, 303);
    assert.equal((await reporter.post(`${path}/issues`, { ...form, title: ' ' })).status, 422);
    assert.equal((await guest.post(`${path}/issues`, form)).status, 403);
    const { cards = [] } = (await read(reporter, path)).columns[lists['todo'] ?? 0] ?? {};
    assert.equal(cards[1], first.id);
    assert.deepEqual((await readIssue(first.iid + 1)).labels, ['todo']);
    assert.equal((await guest.post(`${path}/issues`, { ...form, list: 'open' })).status, 303);
    assert.equal((await reporter.post(`${path}/issues`, { ...form, list: 'closed' })).status, 404);
  });
});

describe('the page of a board', () => {
  test('folds columns, which the address, filters and moves keep', async () => {
    const { path, lists, issue } = await setUp();
    const { id } = await issue({ labels: 'todo' });
    const folded = `${path}?labels=todo&folded=${lists['todo']}`;
    const { text } = await reporter.get(`${path}?labels=todo`);
    assert.ok(text.includes(`href="${path}?labels=todo&amp;folded=${lists['todo']}#list-${lists['todo']}"`));
    assert.ok(text.includes(`id="card-${id}"`));
    const shown = (await reporter.get(folded)).text;
    assert.match(
      shown,
      new RegExp(`<section class="column narrow" id="list-${lists['todo']}" aria-label="todo, folded">`),
    );
    assert.doesNotMatch(shown, new RegExp(`id="card-${id}"`));
    assert.match(shown, /Unfold the column todo/);
    assert.match(shown, /<span class="count">1<\/span>/);
    const typed = await reporter.get(`${folded}&q=crash`);
    assert.equal(typed.location, `${path}?folded=${lists['todo']}&labels=todo&search=crash`);
    const query = /name="query" value="([^"]+)"/.exec(shown)?.[1]?.replaceAll('&amp;', '&') ?? '';
    assert.match(query, new RegExp(`folded=${lists['todo']}`));
  });

  test('shows completed tasks and comments on cards', async () => {
    const { path, issue, project: own } = await setUp();
    const { id, iid } = await issue({ labels: 'todo', description: '- [x] a\n- [ ] b\n- [ ] c' });
    const plain = await issue({ labels: 'todo' });
    for (const body of ['One', 'Two']) await must(`POST /projects/${own.id}/issues/${iid}/notes`, { body });
    const { text } = await reporter.get(path);
    const card = (of: number) => new RegExp(`id="card-${of}"[^]*?</li>`).exec(text)?.[0] ?? '';
    assert.match(card(id), /title="Completed tasks"[^]+1 of 3[^]+title="2 comments"[^]+ 2</);
    assert.doesNotMatch(card(plain.id), /Completed tasks|comment/);
  });

  test('adds a list without leaving the board', async () => {
    const { path, project: own } = await setUp();
    await must(`POST /projects/${own.id}/labels`, { name: 'later', color: '#445566' });
    const { text } = await reporter.get(`${path}?labels=todo`);
    assert.match(text, /Add list[^]+name="on_board" value="1"[^]+name="query" value="labels=todo"/);
    const form = { on_board: '1', query: 'labels=todo', label: 'later' };
    const { status, location } = await reporter.post(`${path}/lists`, form);
    assert.deepEqual([status, location], [303, `${path}?labels=todo`]);
    assert.match((await reporter.get(path)).text, /aria-label="later"/);
    const refused = await reporter.post(`${path}/lists`, { ...form, label: 'no such' });
    assert.equal(refused.status, 422);
    assert.match(
      refused.text,
      /name="on_board" value="1"[^]+name="query" value="labels=todo"[^]+value="no such"/,
    );
    assert.doesNotMatch((await guest.get(path)).text, /Add list/);
    assert.equal((await guest.post(`${path}/lists`, form)).status, 403);
  });
});

describe('a board of a group', () => {
  test('has the issues of all projects below, and creates some in a project', async () => {
    const place = await seedGroup(gantry, { visibility: 'private' });
    const { visitor: member } = await seedVisitor(gantry, { group: place.id, access_level: 20 });
    const api = `/groups/${place.id}`;
    const one = await seedProject(gantry, { namespace: place.id, visibility: 'private' });
    const { id: label } = await must(`POST ${api}/labels`, { name: 'shared', color: '#445566' });
    const { id: board } = await must(`POST ${api}/boards`, { name: 'All' });
    const { id: list } = await must(`POST ${api}/boards/${board}/lists`, { label_id: label });
    const other = await seedProject(gantry, { namespace: place.id, visibility: 'private' });
    const a = await must(`POST /projects/${one.id}/issues`, { title: 'A', labels: 'shared' });
    const b = await must(`POST /projects/${other.id}/issues`, { title: 'B' });
    const path = `/groups/${place.full_path}/-/boards/${board}`;
    assert.equal((await member.get(`/groups/${place.full_path}/-/boards`)).location, path);
    const { text, columns } = await read(member, path);
    assert.deepEqual(columns[list]?.cards, [a.id]);
    assert.ok(columns['open']?.cards.includes(b.id));
    assert.match(text, new RegExp(`${other.full_path}#1`));
    const narrowed = await read(member, `${path}?project_path=${encodeURIComponent(one.full_path)}`);
    assert.deepEqual(
      [narrowed.columns[list]?.cards, narrowed.columns['open']?.cards],
      [[a.id], []],
      'only issues of the project that the filter names',
    );
    await move(member, path, [b.id, 'open', list, a.id, '']);
    assert.deepEqual((await read(member, path)).columns[list]?.cards, [a.id, b.id]);
    const form = { list: String(list), query: '', title: 'C', project_id: String(other.id) };
    assert.equal((await member.post(`${path}/issues`, form)).status, 303);
    const made = await must(`GET /projects/${other.id}/issues/2`);
    assert.deepEqual(made.labels, ['shared']);
    const outside = await seedProject(gantry, {});
    assert.equal(
      (await member.post(`${path}/issues`, { ...form, project_id: String(outside.id) })).status,
      404,
    );
    const far = await must(`POST /projects/${outside.id}/issues`, { title: 'Far' });
    assert.equal((await move(member, path, [far.id, 'open', list, '', ''])).status, 404);
    assert.equal((await stranger.get(path)).status, 404);
  });

  test('keeps the first issues of its columns until anything changes, for each viewer', async () => {
    const place = await seedGroup(gantry, { visibility: 'private' });
    const [member, visitor] = [
      await seedVisitor(gantry, { group: place.id, access_level: 20 }),
      await seedVisitor(gantry, { group: place.id, access_level: 10 }),
    ];
    const own = await seedProject(gantry, { namespace: place.id, visibility: 'private' });
    const { id: board } = await must(`POST /groups/${place.id}/boards`, { name: 'All' });
    const lists: number[] = [];
    for (const name of ['a', 'b', 'c', 'd']) {
      const { id: label_id } = await must(`POST /groups/${place.id}/labels`, { name, color: '#112233' });
      lists.push((await must(`POST /groups/${place.id}/boards/${board}/lists`, { label_id })).id);
      await must(`POST /projects/${own.id}/issues`, { title: name, labels: name });
    }
    const path = `/groups/${place.full_path}/-/boards/${board}`;
    const [list = 0] = lists;
    const cards = async (by: Visitor): Promise<number | undefined> =>
      (await read(by, path)).columns[list]?.cards.length;
    assert.deepEqual([await cards(member.visitor), await cards(visitor.visitor)], [1, 1]);
    // Any commit ends what is kept, on PostgreSQL also one of another database of the server. Reads at the same time
    // look so shortly after each other that some of them come between two commits.
    const counts: number[][] = [];
    const isKept = (): boolean =>
      counts.some((some) => Math.max(...some) - Math.min(...some) >= lists.length);
    while (counts.length < 20 && !isKept()) {
      await must(`POST /projects/${project.id}/issues`, { title: 'Elsewhere' });
      await settle(gantry);
      const reads = Array.from({ length: 6 }, async () => await statementsOf(member.visitor, path));
      counts.push(await Promise.all(reads));
    }
    assert.ok(isKept(), `statements of reads at the same time: ${JSON.stringify(counts)}`);
    await must(`PUT /projects/${own.id}/issues/2`, { labels: 'a' });
    assert.deepEqual([await cards(member.visitor), await cards(visitor.visitor)], [2, 2]);
    await must(`PUT /projects/${own.id}/issues/1`, { confidential: true });
    assert.deepEqual([await cards(member.visitor), await cards(visitor.visitor)], [2, 1]);
    const { status } = await gantry.api(`DELETE /groups/${place.id}/members/${visitor.id}`);
    assert.equal(status, 204);
    assert.equal((await visitor.visitor.get(path)).status, 404);
  });
});
