/** API document, "Issue list filters (shared by the three issue lists)"; behaviour book 2.1. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedGroup } from '../../support/seed.ts';
import { type Team, type World, answer, iidsOf, sortedIids, startWorld } from '../world.ts';

let world: World;
let team: Team;
let group: { id: number };
before(async () => {
  world = await startWorld();
  group = await seedGroup(world.gantry);
  team = await world.team({ namespace: group.id });
});
after(async () => await world.close());

const lists = ['/issues?scope=all', '/groups/G/issues?x=1', '/projects/P/issues?x=1'];
const pathOf = (list: string, at: { id: number; namespace_id: number }): string =>
  list.replace('/P/', `/${at.id}/`).replace('/G/', `/${at.namespace_id}/`);

/** The iids that the three lists return; the lists must agree. */
const found = async (
  query: string,
  at: { id: number; namespace_id: number },
  as?: string,
): Promise<number[]> => {
  const replies = [];
  for (const list of lists) {
    replies.push(
      await world.api(`GET ${pathOf(list, at)}&per_page=100&${query}`, as === undefined ? {} : { as }),
    );
  }
  const all = replies.map((reply) => {
    sortedIids(reply);
    const own = reply.body.filter((one: { project_id: number }) => one.project_id === at.id);
    return own.map((one: { iid: number }) => one.iid).toSorted((a: number, b: number) => a - b);
  });
  assert.deepEqual(all[1], all[0], `group list: ${query}`);
  assert.deepEqual(all[2], all[0], `project list: ${query}`);
  assert.equal(Number(replies[2]?.headers.get('x-total')), all[2].length, `X-Total: ${query}`);
  return all[0];
};

/** A project in a group of its own. */
const place = async (): Promise<Team> => {
  const { id } = await seedGroup(world.gantry);
  return await world.team({ namespace: id });
};

const cases = (title: string, at: () => Team, rows: [string, number[]][]): void => {
  for (const [query, expected] of rows) {
    it(`${title}: ${query === '' ? '(omitted)' : query}`, async () =>
      assert.deepEqual(await found(query, at()), expected));
  }
};

const refusals = (rows: [string, object][]): void => {
  for (const [query, problems] of rows) {
    it(`${query} is refused on each list`, async () => {
      for (const list of lists) {
        const reply = await world.api(`GET ${pathOf(list, team)}&${query}`);
        assert.deepEqual(answer(reply), [400, { message: problems }], list);
      }
    });
  }
};

describe('state', () => {
  let at: Team;
  before(async () => {
    at = await place();
    await world.issue(at.id);
    await world.issue(at.id);
    await world.api(`PUT /projects/${at.id}/issues/2?state_event=close`);
  });
  cases('state', () => at, [
    ['state=opened', [1]],
    ['state=closed', [2]],
    ['', [1, 2]],
    ['state=all', [1, 2]],
    ['state=', [1, 2]],
    ['state', [1, 2]],
  ]);
  refusals([
    ['state=foo', { state: ['does not have a valid value'] }],
    ['state=Opened', { state: ['does not have a valid value'] }],
    ['state[]=opened', { state: ['is invalid'] }],
    ['state=opened&state=closed', { state: ['is invalid'] }],
  ]);
});

describe('labels', () => {
  let at: Team;
  before(async () => {
    at = await place();
    await world.issue(at.id, { labels: 'foo' });
    await world.issue(at.id, { labels: 'foo,bar' });
    await world.issue(at.id);
    await world.issue(at.id, { labels: 'label&foo,label:foo,label?,?,&' });
    await world.issue(at.id, { labels: 'Foo' });
    await world.label({ group: at.namespace_id }, 'of group');
    await world.issue(at.id, { labels: 'of group' });
  });
  cases('labels', () => at, [
    ['labels=foo', [1, 2]],
    ['labels=foo,bar', [2]],
    ['labels=bar,foo', [2]],
    ['labels=foo,%20bar', [2]],
    ['labels=foo,,bar,', [2]],
    ['labels[]=foo&labels[]=bar', [2]],
    ['labels=foo,foo', [1, 2]],
    ['labels=', [1, 2, 3, 4, 5, 6]],
    ['labels=,', [1, 2, 3, 4, 5, 6]],
    ['labels=unknown', []],
    ['labels=foo,unknown', []],
    ['labels=unknown,foo', []],
    ['labels=FOO', []],
    ['labels=Foo', [5]],
    ['labels=fo', []],
    ['labels=label%26foo', [4]],
    ['labels=label:foo,label%3F,%3F,%26', [4]],
    ['labels=of%20group', [6]],
    ['labels=No+Label', [3]],
    ['labels=No%20Label', [3]],
    ['labels=No%2BLabel', [3]],
    ['labels=None', [3]],
    ['labels=foo,No+Label', [3]],
    ['labels=Any', [1, 2, 4, 5, 6]],
    ['labels=Any+Label', [1, 2, 4, 5, 6]],
    ['labels=foo&order_by=updated_at', [1, 2]],
    ['labels=foo,bar&order_by=updated_at&sort=asc', [2]],
    ['labels=foo&state=closed', []],
    ['labels=bar&search=issue', [2]],
  ]);

  it('issues come in their order, also where labels lead', async () => {
    const list = `/projects/${at.id}/issues?labels=foo`;
    assert.deepEqual(iidsOf(await world.api(`GET ${list}`)), [2, 1]);
    assert.deepEqual(iidsOf(await world.api(`GET ${list}&sort=asc`)), [1, 2]);
    assert.deepEqual(iidsOf(await world.api(`GET ${list}&per_page=1&page=2`)), [1]);
  });

  it('labels of one title in the project and its group match the same issues', async () => {
    const both = await place();
    await world.label({ group: both.namespace_id }, 'twin');
    const first = await world.issue(both.id, { labels: 'twin' });
    await world.label(both.id, 'twin');
    const second = await world.issue(both.id, { labels: 'twin' });
    assert.deepEqual([first.labels, second.labels], [['twin'], ['twin']]);
    for (const query of ['labels=twin', 'labels=twin&sort=asc', 'labels=twin&order_by=updated_at']) {
      assert.deepEqual(await found(query, both), [1, 2]);
    }
  });

  refusals([
    ['labels[a]=b', { labels: ['is invalid'] }],
    [
      `labels=${Array.from({ length: 101 }, (_, n) => `l${n}`).join(',')}`,
      { labels: ['is too long (maximum is 100 values)'] },
    ],
  ]);
});

describe('milestone', () => {
  let at: Team;
  before(async () => {
    at = await place();
    world.gantry.setTime(Date.UTC(2026, 5, 15, 12));
    const make = async (fields: object): Promise<number> => (await world.milestone(at.id, fields)).id;
    const dates: [string, object][] = [
      ['past', { start_date: '2026-01-01', due_date: '2026-02-01' }],
      ['running', { start_date: '2026-06-01', due_date: '2026-07-01' }],
      ['coming', { due_date: '2026-08-01' }],
      ['later', { start_date: '2026-08-01', due_date: '2026-09-01' }],
      ['done', { state: 'closed', start_date: '2026-06-01', due_date: '2026-08-01' }],
    ];
    for (const [title, fields] of dates)
      await world.issue(at.id, { milestone_id: await make({ title, ...fields }) });
    await world.issue(at.id);
    const shared = await world.milestone({ group: at.namespace_id }, { title: 'of group' });
    await world.issue(at.id, { milestone_id: shared.id });
  });
  after(() => world.gantry.setTime(null));
  cases('milestone title', () => at, [
    ['milestone=past', [1]],
    ['milestone=of%20group', [7]],
    ['milestone=Past', []],
    ['milestone=unknown', []],
    ['milestone=', [1, 2, 3, 4, 5, 6, 7]],
    ['milestone=No+Milestone', [6]],
    ['milestone=None', [6]],
    ['milestone=Any', [1, 2, 3, 4, 5, 7]],
    ['milestone=%23upcoming', [2]],
    ['milestone=%23started', [1, 2]],
  ]);

  it('#upcoming is the milestone due next in each project and group', async () => {
    const [one, other] = [await place(), await place()];
    const due = [
      [one, one.id, '2026-08-03'],
      [one, one.id, '2026-08-02'],
      [one, one.id, '2026-08-02'],
      [one, { group: one.namespace_id }, '2026-08-04'],
      [other, other.id, '2026-08-05'],
    ] as const;
    for (const [{ id }, owner, due_date] of due) {
      const milestone = await world.milestone(owner, { due_date });
      await world.issue(id, { milestone_id: milestone.id });
    }
    assert.deepEqual(await found('milestone=%23upcoming', one), [2, 4]);
    assert.deepEqual(await found('milestone=%23upcoming', other), [1]);
  });

  it('a title means the milestones of any project of the scope', async () => {
    const other = await place();
    const { id } = await world.milestone(other.id, { title: 'past' });
    await world.issue(other.id, { milestone_id: id });
    assert.deepEqual(await found('milestone=past', other), [1]);
    assert.equal((await world.api('GET /issues?scope=all&milestone=past')).body.length, 2);
  });
});

describe('scope, author_id, assignee_id', () => {
  let at: Team;
  const scoped = async (query: string): Promise<number[]> => {
    const reply = await world.api(`GET /issues?${query}`, { as: at.developer.token });
    return sortedIids(reply);
  };
  before(async () => {
    at = await place();
    const { developer, reporter } = at;
    await world.issue(at.id, {}, developer.token);
    await world.issue(at.id, { assignee_ids: [developer.id] }, reporter.token);
    await world.issue(at.id, { assignee_ids: [reporter.id] }, developer.token);
    await world.issue(at.id, {}, reporter.token);
    await world.issue(at.id, { assignee_ids: [reporter.id, developer.id] }, reporter.token);
  });

  for (const [query, expected] of [
    ['', [1, 3]],
    ['scope=created-by-me', [1, 3]],
    ['scope=created_by_me', [1, 3]],
    ['scope=assigned-to-me', [2, 5]],
    ['scope=assigned_to_me', [2, 5]],
    ['scope=', [1, 3]],
  ] as const) {
    it(`scope on GET /issues, default created-by-me: ${query || '(omitted)'}`, async () =>
      assert.deepEqual(await scoped(query), expected));
  }

  it('scope=all is every issue that the caller sees', async () => {
    const reply = await world.api('GET /issues?scope=all&per_page=100', { as: at.developer.token });
    const own = reply.body.filter((one: { project_id: number }) => one.project_id === at.id);
    assert.equal(own.length, 5);
    assert.ok(reply.body.length > 5);
  });

  for (const [query, expected] of [
    ['', [1, 2, 3, 4, 5]],
    ['scope=all', [1, 2, 3, 4, 5]],
    ['scope=created-by-me', [1, 3]],
    ['scope=assigned-to-me', [2, 5]],
    ['scope=assigned_to_me&state=closed', []],
  ] as const) {
    it(`scope on the lists of a project and of a group, default all: ${query || '(omitted)'}`, async () => {
      for (const list of [`/projects/${at.id}/issues`, `/groups/${at.namespace_id}/issues`]) {
        assert.deepEqual(
          sortedIids(await world.api(`GET ${list}?${query}`, { as: at.developer.token })),
          expected,
        );
      }
    });
  }

  it('author_id: issues created by that user; combine with scope=all', async () => {
    const { reporter } = at;
    assert.deepEqual(await found(`author_id=${reporter.id}`, at), [2, 4, 5]);
    assert.deepEqual(await scoped(`author_id=${reporter.id}`), []);
    assert.deepEqual(await scoped(`scope=assigned-to-me&author_id=${reporter.id}`), [2, 5]);
    assert.deepEqual(await found('author_id=999999', at), []);
    assert.deepEqual(await found('author_id=', at), [1, 2, 3, 4, 5]);
  });

  it('assignee_id: issues assigned to that user, as the first or a further assignee', async () => {
    const { developer, reporter } = at;
    assert.deepEqual(await found(`assignee_id=${reporter.id}`, at), [3, 5]);
    assert.deepEqual(await found(`assignee_id=${developer.id}`, at), [2, 5]);
    assert.deepEqual(await found('assignee_id=999999', at), []);
    assert.deepEqual(await scoped(`assignee_id=${reporter.id}`), [3]);
  });

  it('assignee_id 0 and None are the unassigned, Any the assigned', async () => {
    for (const query of ['assignee_id=0', 'assignee_id=None', 'assignee_id=none']) {
      assert.deepEqual(await found(query, at), [1, 4]);
    }
    assert.deepEqual(await found('assignee_id=Any', at), [2, 3, 5]);
  });

  it('author_username and assignee_username, in any case', async () => {
    const { developer, reporter } = at;
    assert.deepEqual(await found(`author_username=${reporter.username.toUpperCase()}`, at), [2, 4, 5]);
    assert.deepEqual(await found(`assignee_username=${reporter.username}`, at), [3, 5]);
    assert.deepEqual(
      await found(`assignee_username[]=${reporter.username}&assignee_username[]=${developer.username}`, at),
      [5],
    );
    assert.deepEqual(await found('author_username=nobody-of-this-name', at), []);
  });

  it('scope=mine is refused on each list', async () => {
    for (const list of lists) {
      const reply = await world.api(`GET ${pathOf(list, at).split('?')[0]}?scope=mine`);
      assert.deepEqual(answer(reply), [400, { message: { scope: ['does not have a valid value'] } }]);
    }
  });

  refusals([
    ['author_id=abc', { author_id: ['is invalid'] }],
    ['author_id[]=1', { author_id: ['is invalid'] }],
    ['assignee_id=abc', { assignee_id: ['is invalid'] }],
    ['assignee_id=9007199254740992', { assignee_id: ['is invalid'] }],
  ]);
});

describe('my_reaction_emoji', () => {
  let at: Team;
  before(async () => {
    at = await place();
    // Authors do not vote on their own issues.
    for (const _ of [1, 2, 3]) await world.issue(at.id, {}, at.reporter.token);
    const award = async (iid: number, name: string, as?: string): Promise<void> => {
      const reply = await world.api(
        `POST /projects/${at.id}/issues/${iid}/award_emoji?name=${name}`,
        as === undefined ? {} : { as },
      );
      assert.equal(reply.status, 201, reply.text);
    };
    await award(1, 'thumbsup');
    await award(2, 'star');
    await award(3, 'thumbsup', at.developer.token);
  });
  cases('issues the caller reacted to with that emoji', () => at, [
    ['my_reaction_emoji=thumbsup', [1]],
    ['my_reaction_emoji=star', [2]],
    ['my_reaction_emoji=thumbsdown', []],
    ['my_reaction_emoji=', [1, 2, 3]],
    ['my_reaction_emoji=None', [3]],
    ['my_reaction_emoji=Any', [1, 2]],
  ]);
  it('applies to the caller', async () =>
    assert.deepEqual(await found('my_reaction_emoji=thumbsup', at, at.developer.token), [3]));
});

describe('iids[]', () => {
  let at: Team;
  before(async () => {
    at = await place();
    for (const _ of [1, 2, 3]) await world.issue(at.id);
  });
  cases('only issues with those iids', () => at, [
    ['iids[]=1&iids[]=3', [1, 3]],
    ['iids%5B%5D=2', [2]],
    ['iids=2', [2]],
    ['iids=1,3', [1, 3]],
    ['iids[0]=1&iids[1]=2', [1, 2]],
    ['iids[]=1&iids[]=999999', [1]],
    ['iids[]=999999', []],
    ['iids[]=-1&iids[]=0', []],
    ['iids[]=', [1, 2, 3]],
    ['iids=', [1, 2, 3]],
    [Array.from({ length: 100 }, (_, n) => `iids[]=${n + 3}`).join('&'), [3]],
  ]);
  refusals([
    ['iids[]=abc', { iids: ['is invalid'] }],
    ['iids[]=1&iids[]=x', { iids: ['is invalid'] }],
    ['iids[a]=1', { iids: ['is invalid'] }],
    ['iids[]=9223372036854775808', { iids: ['is invalid'] }],
    [
      Array.from({ length: 101 }, (_, n) => `iids[]=${n}`).join('&'),
      { iids: ['is too long (maximum is 100 values)'] },
    ],
    [
      `iids=${Array.from({ length: 101 }, (_, n) => n).join(',')}`,
      { iids: ['is too long (maximum is 100 values)'] },
    ],
  ]);
});

describe('order_by and sort', () => {
  let at: Team;
  before(async () => {
    at = await place();
    const days = [2, 1, 3, 3];
    for (const day of days) await world.issue(at.id, { created_at: `2020-01-0${day}T00:00:00Z` });
    const edits: [number, number][] = [
      [1, 9],
      [2, 8],
      [3, 7],
      [4, 7],
    ];
    for (const [iid, day] of edits) {
      await world.api(`PUT /projects/${at.id}/issues/${iid}?title=x&updated_at=2020-02-0${day}T00:00:00Z`);
    }
  });

  for (const [query, expected] of [
    ['', [4, 3, 1, 2]],
    ['order_by=created_at', [4, 3, 1, 2]],
    ['sort=desc', [4, 3, 1, 2]],
    ['sort=asc', [2, 1, 3, 4]],
    ['order_by=updated_at', [1, 2, 4, 3]],
    ['order_by=updated_at&sort=asc', [3, 4, 2, 1]],
    ['order_by=&sort=', [4, 3, 1, 2]],
  ] as const) {
    it(`created_at desc by default, ties by id in the same direction: ${query || '(omitted)'}`, async () => {
      for (const list of [`/projects/${at.id}/issues`, `/groups/${at.namespace_id}/issues`]) {
        assert.deepEqual(iidsOf(await world.api(`GET ${list}?${query}`)), expected);
      }
    });
  }

  it('pages of each order put together are the list', async () => {
    for (const order of ['created_at', 'updated_at']) {
      const list = `/projects/${at.id}/issues?order_by=${order}`;
      const pages = [];
      for (const page of [1, 2, 3, 4])
        pages.push(...iidsOf(await world.api(`GET ${list}&per_page=1&page=${page}`)));
      assert.deepEqual(pages, iidsOf(await world.api(`GET ${list}`)));
    }
  });

  refusals([
    ['order_by=merged_at', { order_by: ['does not have a valid value'] }],
    ['sort=up', { sort: ['does not have a valid value'] }],
    ['sort=ASC', { sort: ['does not have a valid value'] }],
    [
      'state=x&order_by=y',
      { state: ['does not have a valid value'], order_by: ['does not have a valid value'] },
    ],
  ]);
});

describe('search', () => {
  let at: Team;
  before(async () => {
    at = await place();
    const texts: [string, string | null][] = [
      ['Crash at start', 'The parser fails'],
      ['Parser fails', 'at the start'],
      ['100% of a_b', 'back\\slash'],
      ['Ärger', 'Straße und "quoted phrase" here'],
      ['Go', null],
      ['quoted and phrase', 'apart'],
    ];
    for (const [title, description] of texts) await world.issue(at.id, { title, description });
  });
  cases('matches title or description', () => at, [
    ['search=parser', [1, 2]],
    ['search=PARSER', [1, 2]],
    ['search=arse', [1, 2]],
    ['search=parser%20fails', [1, 2]],
    ['search=fails%20parser', [1, 2]],
    ['search=crash%20parser', []],
    ['search=start', [1, 2]],
    ['search=%22quoted%20phrase%22', [4]],
    ['search=quoted%20phrase', [4, 6]],
    ['search=%22phrase%20quoted%22', []],
    ['search=100%25', [3]],
    ['search=0%25%20of', [3]],
    ['search=a_b', [3]],
    ['search=a%25b', []],
    ['search=axb', []],
    ['search=back%5Cslash', [3]],
    ['search=%C3%A4rger', [4]],
    ['search=STRA%C3%9FE', [4]],
    ['search=go', [5]],
    ['search=at%20a', []],
    ['search=at', [1, 2]],
    ['search=parser%20at', [1, 2]],
    ['search=', [1, 2, 3, 4, 5, 6]],
    ['search=%20%20', [1, 2, 3, 4, 5, 6]],
    ['search=nothing-like-it', []],
    ["search='%20or%201=1%20--", []],
    ['search=%22', [4]],
    ['search=parser&state=closed', []],
    ['search=parser&iids[]=2', [2]],
  ]);

  it('finds an edited issue by its new text and not by its old', async () => {
    const own = await place();
    await world.issue(own.id, { title: 'before', description: 'earlier' });
    await world.api(`PUT /projects/${own.id}/issues/1`, {
      json: { title: 'afterwards', description: 'later' },
    });
    assert.deepEqual(await found('search=before', own), []);
    assert.deepEqual(await found('search=earlier', own), []);
    assert.deepEqual(await found('search=afterwards', own), [1]);
    assert.deepEqual(await found('search=later', own), [1]);
  });

  refusals([
    [`search=${'x'.repeat(256)}`, { search: ['is too long (maximum is 255 characters)'] }],
    ['search=a%00b', { search: ['is invalid'] }],
    ['search[]=x', { search: ['is invalid'] }],
  ]);
  it('255 characters are taken', async () =>
    assert.deepEqual(await found(`search=${'x'.repeat(255)}`, at), []));
});

describe('created_after, created_before (datetime, inclusive)', () => {
  let at: Team;
  before(async () => {
    at = await place();
    for (const created_at of [
      '2017-01-01T00:00:00.000Z',
      '2017-01-02T12:00:00.500Z',
      '2017-01-03T00:00:00Z',
    ]) {
      await world.issue(at.id, { created_at });
    }
    for (const [iid, day] of [
      [1, 5],
      [2, 6],
      [3, 7],
    ]) {
      await world.api(`PUT /projects/${at.id}/issues/${iid}?title=x&updated_at=2018-01-0${day}T00:00:00Z`);
    }
  });
  cases('on all three lists', () => at, [
    ['created_after=2017-01-02T12:00:00.500Z', [2, 3]],
    ['created_after=2017-01-02T12:00:00.501Z', [3]],
    ['created_before=2017-01-02T12:00:00.500Z', [1, 2]],
    ['created_before=2017-01-02T12:00:00.499Z', [1]],
    ['created_after=2017-01-02&created_before=2017-01-03', [2, 3]],
    ['created_after=2017-01-03', [3]],
    ['created_before=2017-01-01', [1]],
    ['created_after=2017-01-02T13:00:00.500%2B01:00', [2, 3]],
    ['created_after=2017-01-02T13:00:00.500+01:00', [2, 3]],
    ['created_after=Tue,%2003%20Jan%202017%2000:00:00%20GMT', [3]],
    ['created_after=20170103T000000Z', [3]],
    ['created_after=3%20Jan%202017', [3]],
    ['created_after=', [1, 2, 3]],
    ['created_after=2017-01-03&created_before=2017-01-01', []],
    ['updated_after=2018-01-06', [2, 3]],
    ['updated_before=2018-01-06T00:00:00Z', [1, 2]],
  ]);
  refusals([
    ['created_after=yesterday', { created_after: ['is invalid'] }],
    ['created_before=2017-02-30', { created_before: ['is invalid'] }],
    ['created_before=0000-01-01', { created_before: ['is invalid'] }],
    ['created_after=%2B275760-09-13', { created_after: ['is invalid'] }],
    ['created_after[]=2017-01-01', { created_after: ['is invalid'] }],
  ]);
});

describe('newer filters', () => {
  it('confidential', async () => {
    const at = await place();
    await world.issue(at.id, { confidential: true });
    await world.issue(at.id);
    assert.deepEqual(await found('confidential=true', at), [1]);
    assert.deepEqual(await found('confidential=no', at), [2]);
    assert.deepEqual(await found('confidential=true', at, at.guest.token), []);
  });

  it('due_date: by the day, with weeks from Monday; 0 and any', async () => {
    const at = await place();
    world.gantry.setTime(Date.UTC(2017, 0, 11, 12)); // a Wednesday
    try {
      const days = [
        '2017-01-10',
        '2017-01-11',
        '2017-01-12',
        '2017-01-09',
        '2017-01-15',
        '2017-01-16',
        '2017-02-28',
      ];
      for (const due_date of [...days, null]) await world.issue(at.id, { due_date });
      const rows: [string, number[]][] = [
        ['0', [8]],
        ['any', [1, 2, 3, 4, 5, 6, 7]],
        ['today', [2]],
        ['tomorrow', [3]],
        ['overdue', [1, 4]],
        ['week', [1, 2, 3, 4, 5]],
        ['month', [1, 2, 3, 4, 5, 6]],
        ['next_month_and_previous_two_weeks', [1, 2, 3, 4, 5, 6, 7]],
      ];
      for (const [word, iids] of rows) assert.deepEqual(await found(`due_date=${word}`, at), iids, word);
    } finally {
      world.gantry.setTime(null);
    }
  });

  refusals([['due_date=someday', { due_date: ['does not have a valid value'] }]]);

  it('non_archived excludes issues of archived projects at once', async () => {
    const at = await place();
    await world.issue(at.id);
    assert.deepEqual(await found('non_archived=true', at), [1]);
    await world.api(`POST /projects/${at.id}/archive`);
    assert.deepEqual(await found('non_archived=true', at), []);
    assert.deepEqual(await found('non_archived=false', at), [1]);
    assert.deepEqual(await found('', at), [1]);
  });

  it('an unknown parameter is ignored', async () => {
    const at = await place();
    await world.issue(at.id);
    const odd =
      'all=False&with_counts=1&pagination=keyset&in=title,description&simple=1&issue_type=issue&x[y][z]=1';
    assert.deepEqual(await found(odd, at), [1]);
  });
});

describe('combined filters', () => {
  it('all apply, and no total counts hidden issues', async () => {
    const at = await place();
    const { reporter, guest } = at;
    await world.issue(at.id, {
      title: 'secret word',
      confidential: true,
      labels: 'a',
      assignee_ids: [reporter.id],
    });
    await world.issue(at.id, { title: 'open word', labels: 'a', assignee_ids: [reporter.id] });
    await world.issue(at.id, { title: 'open', labels: 'a' });
    const queries = [
      'search=word',
      'labels=a&search=word',
      `assignee_id=${reporter.id}`,
      `labels=a&assignee_id=${reporter.id}&state=opened&author_id=1&iids[]=1&iids[]=2`,
    ];
    for (const query of queries) {
      assert.deepEqual(await found(query, at), [1, 2], query);
      assert.deepEqual(await found(query, at, guest.token), [2], query);
    }
    assert.deepEqual(await found('search=secret', at, guest.token), []);
  });
});
