/** API document: the five time endpoints of an issue; behaviour book 1.12 and 2.12-2.16. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Issue, type Reply, type Team, type World, answer, startWorld } from '../world.ts';

let world: World;
let team: Team;
before(async () => {
  world = await startWorld();
  team = await world.team();
});
after(async () => await world.close());

const pathOf = ({ project_id, iid }: Issue): string => `/projects/${project_id}/issues/${iid}`;
const post = async (issue: Issue, word: string, duration?: unknown, as?: string): Promise<Reply> =>
  await world.api(`POST ${pathOf(issue)}/${word}`, {
    ...(duration !== undefined && { json: { duration } }),
    ...(as !== undefined && { as }),
  });

const stats = (
  time_estimate: number,
  human: string | null,
  total_time_spent = 0,
  spent: string | null = null,
) => ({
  time_estimate,
  total_time_spent,
  human_time_estimate: human,
  human_total_time_spent: spent,
});

const badEstimate = [400, { message: { time_estimate: ['has an invalid format'] } }];
const badSpent = [400, { message: { time_spent: ['has an invalid format'] } }];

describe('durations', () => {
  const rows: [string, number, string][] = [
    ['3h30m', 12_600, '3h 30m'],
    ['3h 30m', 12_600, '3h 30m'],
    ['1h, 150m', 12_600, '3h 30m'],
    ['1.5h', 5400, '1h 30m'],
    ['1w', 144_000, '1w'],
    ['40h', 144_000, '1w'],
    ['5d', 144_000, '1w'],
    ['0.5d', 14_400, '4h'],
    ['3w1h', 435_600, '3w 1h'],
    ['8h', 28_800, '1d'],
    ['4w', 576_000, '1mo'],
    ['20d', 576_000, '1mo'],
    ['1mo', 576_000, '1mo'],
    ['90s', 90, '1m 30s'],
    ['1:30', 90, '1m 30s'],
    ['2', 7200, '2h'],
    ['3:41:59', 13_319, '3h 41m 59s'],
    ['1h 30', 111_600, '3d 7h'],
    ['5 4h', 14_400, '4h'],
    ['1mo 2w 3d 4h 5m 6s', 965_106, '1mo 2w 3d 4h 5m 6s'],
    ['h', 3600, '1h'],
    ['1M', 60, '1m'],
    ['52w', 7_488_000, '13mo'],
    ['1y', 6_912_000, '12mo'],
    ['2 hours and 5 minutes', 7500, '2h 5m'],
    ['1 Hour plus 1 MIN', 3660, '1h 1m'],
  ];
  for (const [text, seconds, human] of rows) {
    it(`${text} is ${seconds} s and prints ${human}`, async () => {
      const issue = await world.issue(team.id);
      assert.deepEqual(answer(await post(issue, 'time_estimate', text)), [201, stats(seconds, human)]);
      const spent = await post(issue, 'add_spent_time', text);
      assert.deepEqual(answer(spent), [201, stats(seconds, human, seconds, human)]);
    });
  }

  const bad = [
    'foo',
    '1h foo',
    '1,5h',
    '3h-30m',
    '',
    '0',
    '0h',
    null,
    ' ',
    '١h',
    '99999999999999999mo',
    '1h'.repeat(40),
  ];
  for (const text of bad) {
    it(`${JSON.stringify(text)} has an invalid format`, async () => {
      const issue = await world.issue(team.id);
      assert.deepEqual(answer(await post(issue, 'time_estimate', text)), badEstimate);
      assert.deepEqual(answer(await post(issue, 'add_spent_time', text)), badSpent);
    });
  }

  it('a number is taken as its text', async () =>
    assert.equal((await post(await world.issue(team.id), 'time_estimate', 2)).body.time_estimate, 7200));
  it('an array, an object and more than 255 characters are refused by name', async () => {
    const issue = await world.issue(team.id);
    for (const duration of [['1h'], { a: 1 }]) {
      assert.deepEqual(answer(await post(issue, 'time_estimate', duration)), [
        400,
        { message: { duration: ['is invalid'] } },
      ]);
    }
    const reply = await post(issue, 'add_spent_time', ' '.repeat(60_000));
    assert.deepEqual(answer(reply), [
      400,
      { message: { duration: ['is too long (maximum is 255 characters)'] } },
    ]);
  });
});

describe('time_estimate', () => {
  it('time_estimate replaces the estimate, and the issue shows it', async () => {
    const issue = await world.issue(team.id);
    await post(issue, 'time_estimate', '1h');
    assert.deepEqual(answer(await post(issue, 'time_estimate', '2h')), [201, stats(7200, '2h')]);
    assert.deepEqual((await world.api(`GET ${pathOf(issue)}`)).body.time_stats, stats(7200, '2h'));
  });
  it('negative: 400', async () =>
    assert.deepEqual(answer(await post(await world.issue(team.id), 'time_estimate', '-1h')), badEstimate));
  it('duration absent: not given', async () => {
    for (const word of ['time_estimate', 'add_spent_time']) {
      const reply = await post(await world.issue(team.id), word);
      assert.deepEqual(answer(reply), [400, { message: '400 (Bad request) "duration" not given' }]);
    }
  });
  it('notes; the same again changes nothing', async () => {
    const issue = await world.issue(team.id);
    await post(issue, 'time_estimate', '3d 5h');
    const { updated_at } = (await world.api(`GET ${pathOf(issue)}`)).body;
    assert.ok(updated_at > issue.updated_at);
    assert.equal((await post(issue, 'time_estimate', '29h')).status, 201);
    assert.equal((await world.api(`GET ${pathOf(issue)}`)).body.updated_at, updated_at);
    assert.deepEqual(await world.systemNotes(issue.id), ['changed time estimate to 3d 5h']);
    assert.equal((await world.events('Issue', issue.id)).length, 2);
  });
});

describe('reset_time_estimate', () => {
  it('back to 0 seconds: the four fields', async () => {
    const issue = await world.issue(team.id);
    await post(issue, 'time_estimate', '1h');
    assert.deepEqual(answer(await post(issue, 'reset_time_estimate')), [201, stats(0, null)]);
    assert.deepEqual(await world.systemNotes(issue.id), [
      'changed time estimate to 1h',
      'removed time estimate',
    ]);
  });
  it('when it is 0: success, no note, no event, updated_at untouched', async () => {
    const issue = await world.issue(team.id);
    assert.deepEqual(answer(await post(issue, 'reset_time_estimate')), [201, stats(0, null)]);
    assert.deepEqual((await world.api(`GET ${pathOf(issue)}`)).body, issue);
    assert.equal((await world.events('Issue', issue.id)).length, 1);
  });
});

const logs = async (issue: Issue): Promise<[number, number][]> => {
  const query = world.gantry.service.platform.store.db.selectFrom('timelogs').selectAll();
  const rows = await query.where('target_id', '=', issue.id).orderBy('id').execute();
  return rows.map((row) => [row.user_id, row.time_spent]);
};

describe('add_spent_time', () => {
  it('accumulates as log rows of each user', async () => {
    const issue = await world.issue(team.id);
    await post(issue, 'add_spent_time', '1h');
    const reply = await post(issue, 'add_spent_time', '30m', team.reporter.token);
    assert.deepEqual(answer(reply), [201, stats(0, null, 5400, '1h 30m')]);
    assert.deepEqual(await logs(issue), [
      [1, 3600],
      [team.reporter.id, 1800],
    ]);
  });
  it('negative subtracts, down to 0 and not below', async () => {
    const issue = await world.issue(team.id);
    await post(issue, 'add_spent_time', '2h');
    assert.deepEqual(answer(await post(issue, 'add_spent_time', '-1h')), [201, stats(0, null, 3600, '1h')]);
    const tooMuch = [400, { message: { time_spent: ['Time to subtract exceeds the total time spent'] } }];
    assert.deepEqual(answer(await post(issue, 'add_spent_time', '-61m')), tooMuch);
    assert.deepEqual(answer(await post(issue, 'add_spent_time', '-1h')), [201, stats(0, null)]);
    assert.deepEqual(answer(await post(issue, 'add_spent_time', '-1s')), tooMuch);
    assert.deepEqual(await logs(issue), [
      [1, 7200],
      [1, -3600],
      [1, -3600],
    ]);
    assert.deepEqual(await world.systemNotes(issue.id), [
      'added 2h of time spent',
      'subtracted 1h of time spent',
      'subtracted 1h of time spent',
    ]);
  });
  it('more than fits is refused, and nothing is kept of it', async () => {
    const issue = await world.issue(team.id);
    const most = `${2 ** 31 - 1}s`;
    assert.equal((await post(issue, 'add_spent_time', most)).status, 201);
    assert.deepEqual(answer(await post(issue, 'add_spent_time', '1s')), badSpent);
    assert.deepEqual(answer(await post(issue, 'add_spent_time', `${2 ** 31}s`)), badSpent);
    assert.equal((await logs(issue)).length, 1);
  });
  it('additions at once are all kept', async () => {
    const issue = await world.issue(team.id);
    await Promise.all(Array.from({ length: 20 }, () => post(issue, 'add_spent_time', '1m')));
    assert.equal((await world.api(`GET ${pathOf(issue)}/time_stats`)).body.total_time_spent, 1200);
    assert.equal((await logs(issue)).length, 20);
  });
});

describe('reset_spent_time', () => {
  it('back to 0 by a negative row', async () => {
    const issue = await world.issue(team.id);
    await post(issue, 'add_spent_time', '2h 30m');
    assert.deepEqual(answer(await post(issue, 'reset_spent_time')), [201, stats(0, null)]);
    assert.deepEqual(await logs(issue), [
      [1, 9000],
      [1, -9000],
    ]);
    assert.deepEqual(await world.systemNotes(issue.id), ['added 2h 30m of time spent', 'removed time spent']);
  });
  it('when it is 0: success, no row, no note', async () => {
    const issue = await world.issue(team.id);
    assert.deepEqual(answer(await post(issue, 'reset_spent_time')), [201, stats(0, null)]);
    assert.deepEqual([await logs(issue), await world.systemNotes(issue.id)], [[], []]);
    assert.deepEqual((await world.api(`GET ${pathOf(issue)}`)).body, issue);
  });
});

describe('permission: reporter, author or assignee, else 403; stats need read', () => {
  const calls: [string, string | undefined][] = [
    ['time_estimate', '1h'],
    ['reset_time_estimate', undefined],
    ['add_spent_time', '1h'],
    ['reset_spent_time', undefined],
  ];
  for (const [word, duration] of calls) {
    it(word, async () => {
      const issue = await world.issue(team.id);
      for (const who of ['guest', 'stranger'] as const) {
        const reply = await post(issue, word, duration, team[who].token);
        assert.deepEqual(answer(reply), [403, { message: '403 Forbidden' }], who);
      }
      assert.equal((await post(issue, word, duration, team.reporter.token)).status, 201);
      const own = await world.issue(team.id, {}, team.stranger.token);
      assert.equal((await post(own, word, duration, team.stranger.token)).status, 201);
      const assigned = await world.issue(team.id, { assignee_ids: [team.guest.id] });
      assert.equal((await post(assigned, word, duration, team.guest.token)).status, 201);
    });
  }
  it('403 before the format', async () => {
    const issue = await world.issue(team.id);
    assert.equal((await post(issue, 'time_estimate', 'foo', team.guest.token)).status, 403);
  });
  it('time_stats', async () => {
    const issue = await world.issue(team.id);
    await post(issue, 'time_estimate', '1h');
    const reply = await world.api(`GET ${pathOf(issue)}/time_stats`, { as: team.stranger.token });
    assert.deepEqual(answer(reply), [200, stats(3600, '1h')]);
  });
});

it('unknown issue: 404; issue_iid abc: 400', async () => {
  for (const line of [
    'POST /time_estimate?duration=1h',
    'POST /reset_time_estimate',
    'POST /add_spent_time?duration=1h',
    'POST /reset_spent_time',
    'GET /time_stats',
  ]) {
    const [method, rest] = line.split(' ');
    const at = (iid: string) => world.api(`${method} /projects/${team.id}/issues/${iid}${rest}`);
    assert.deepEqual(answer(await at('999999')), [404, { message: '404 Not found' }], line);
    assert.deepEqual(answer(await at('abc')), [400, { message: { issue_iid: ['is invalid'] } }], line);
  }
});

it('time spent and estimate bump updated_at and leave events', async () => {
  const issue = await world.issue(team.id);
  const { id } = issue;
  for (const [word, duration] of [
    ['time_estimate', '1h'],
    ['add_spent_time', '1h'],
    ['reset_spent_time', undefined],
    ['reset_time_estimate', undefined],
  ] as const) {
    const last = (await world.api(`GET ${pathOf(issue)}`)).body.updated_at;
    await post(issue, word, duration);
    assert.ok((await world.api(`GET ${pathOf(issue)}`)).body.updated_at > last, word);
  }
  const kinds = (await world.events('Issue', id)).map(({ kind }) => kind);
  assert.deepEqual(kinds, ['issue.created', ...Array.from({ length: 4 }, () => 'issue.time_tracked')]);
});
