/** Fields of an issue that typed clients require beside those of the API document, and the filter `issue_type`. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedGroup } from '../../support/seed.ts';
import { type Team, type World, answer, startWorld } from '../world.ts';

let world: World;
let team: Team;
before(async () => {
  world = await startWorld();
  team = await world.team({ namespace: (await seedGroup(world.gantry)).id });
});
after(async () => await world.close());

const pathOf = ({ iid }: { iid: number }): string => `/projects/${team.id}/issues/${iid}`;

describe('issue_type', () => {
  const lists = () => [
    '/issues?scope=all',
    `/groups/${team.namespace_id}/issues?x=1`,
    `/projects/${team.id}/issues?x=1`,
  ];

  it('issue selects every issue, any other kind none, on every list', async () => {
    await world.issue(team.id);
    for (const list of lists()) {
      const all = await world.api(`GET ${list}`);
      assert.ok(all.body.length > 0);
      const issues = await world.api(`GET ${list}&issue_type=issue`);
      assert.deepEqual(issues.body, all.body, list);
      assert.equal(issues.headers.get('x-total'), all.headers.get('x-total'));
      for (const type of [
        'incident',
        'test_case',
        'task',
        'requirement',
        'objective',
        'key_result',
        'epic',
      ]) {
        const reply = await world.api(`GET ${list}&issue_type=${type}&page=2&per_page=1`);
        assert.deepEqual([reply.status, reply.body, reply.headers.get('x-total')], [200, [], '0'], type);
      }
    }
  });

  it('totals of a list follow the filter by issue_type', async () => {
    const counts = async (type: string) =>
      (await world.api(`GET /projects/${team.id}/issues_statistics?issue_type=${type}`)).body.statistics
        .counts;
    assert.equal((await counts('task')).all, 0);
    assert.ok((await counts('issue')).all > 0);
  });

  it('an unknown kind is refused', async () => {
    for (const list of lists()) {
      const reply = await world.api(`GET ${list}&issue_type=bug`);
      assert.deepEqual(answer(reply), [400, { message: { issue_type: ['does not have a valid value'] } }]);
    }
  });
});

describe('fields that typed clients require', () => {
  it('closed_by is who closed it, until it is opened again, and follows their name', async () => {
    const issue = await world.issue(team.id);
    const { developer } = team;
    const closed = await world.api(`PUT ${pathOf(issue)}?state_event=close`, { as: developer.token });
    assert.deepEqual(
      [closed.body.closed_by.id, closed.body.closed_by.username],
      [developer.id, developer.username],
    );
    const shown = async () => (await world.api(`GET /projects/${team.id}/issues`)).body[0];
    assert.equal((await shown()).closed_by.username, developer.username);
    await world.api(`PUT /users/${developer.id}?name=Renamed`);
    assert.equal((await shown()).closed_by.name, 'Renamed');
    const opened = await world.api(`PUT ${pathOf(issue)}?state_event=reopen`);
    assert.equal(opened.body.closed_by, null);
    assert.equal((await shown()).closed_by, null);
  });

  it('moved_to_id is the id of the issue that it was moved to', async () => {
    const other = await world.project();
    const issue = await world.issue(team.id, { description: '- [x] one\n- [ ] two' });
    const moved = await world.api(`POST ${pathOf(issue)}/move`, { json: { to_project_id: other.id } });
    assert.deepEqual(
      [moved.body.moved_to_id, moved.body.task_completion_status],
      [null, { count: 2, completed_count: 1 }],
    );
    const old = (await world.api(`GET ${pathOf(issue)}`)).body;
    assert.equal(old.moved_to_id, moved.body.id);
  });

  it('task_completion_status counts the tasks of the description', async () => {
    const issue = await world.issue(team.id, { description: '- [ ] a\n* [x] b\n1. [X] c\ntext [x] d' });
    assert.deepEqual(issue.task_completion_status, { count: 3, completed_count: 2 });
    const none = await world.api(`PUT ${pathOf(issue)}`, { json: { description: null } });
    assert.deepEqual(none.body.task_completion_status, { count: 0, completed_count: 0 });
  });
});

describe('dates with a time', () => {
  it('keep the day that is written', async () => {
    for (const date of ['2030-01-02T10:00:00.000Z', '2030-01-02T23:30:00+02:00', '2030-01-02']) {
      const { due_date } = await world.issue(team.id, { due_date: date });
      assert.equal(due_date, '2030-01-02');
      const json = { title: `v ${date}`, due_date: date, start_date: date.replace('2030', '2029') };
      const milestone = await world.api(`POST /projects/${team.id}/milestones`, { json });
      assert.deepEqual(
        [milestone.status, milestone.body.due_date, milestone.body.start_date],
        [201, '2030-01-02', '2029-01-02'],
      );
    }
    const issue = await world.issue(team.id);
    const edited = await world.api(`PUT ${pathOf(issue)}?due_date=2031-02-03T00:00:00Z`);
    assert.equal(edited.body.due_date, '2031-02-03');
    assert.equal((await world.api(`PUT ${pathOf(issue)}`, { json: { due_date: '' } })).body.due_date, null);
  });

  it('are refused where they are none', async () => {
    for (const due_date of [
      '2030-01-02Tsoon',
      '2030-13-02T10:00:00Z',
      '2030-02-30T10:00:00Z',
      'T10:00:00Z',
    ]) {
      const reply = await world.api(`POST /projects/${team.id}/issues`, { json: { title: 'x', due_date } });
      assert.deepEqual(answer(reply), [400, { message: { due_date: ['is invalid'] } }], due_date);
    }
  });
});
