/**
 * Label counts equal the lists of issues and merge requests of the same caller, and are computed without reading
 * them, however many the instance holds.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
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
} from '../support/seed.ts';
import { statementsDuring } from '../support/record_statements.ts';
import { type TestService, engine, startTestService } from '../support/service.ts';

let gantry: TestService;
let group: SeededGroup;
let projects: SeededProject[];
let reporter: SeededUser;
let outsider: SeededUser;
/** Two of the group, and one of the first project. */
let labels: { id: number; name: string }[];

const createLabel = async (place: string, name: string): Promise<{ id: number; name: string }> =>
  (await gantry.api(`POST ${place}/labels`, { json: { name, color: '#fff' } })).body;

/** Every fourth is confidential, every third closed; some belong to the outsider. */
const fill = async (project: SeededProject): Promise<void> => {
  const own = labels.filter(({ name }) => name !== 'own' || project === projects[0]);
  for (let at = 0; at < 16; at += 1) {
    const carried = own.filter((_, index) => (at + index) % 2 === 0).map(({ id }) => id);
    await seedIssue(gantry, {
      project: project.id,
      labels: carried,
      state: at % 3 === 0 ? 'closed' : 'opened',
      confidential: at % 4 < 2 ? 1 : 0,
      author: at % 8 === 0 ? outsider.id : 1,
      assignees: at % 8 === 1 ? [outsider.id] : [],
      deleted: at % 7 === 6,
    });
    const state = (['opened', 'closed', 'merged'] as const)[at % 3];
    await seedMergeRequest(gantry, { project: project.id, labels: carried, ...(state && { state }) });
  }
};

before(async () => {
  gantry = await startTestService();
  [reporter, outsider] = [await seedUser(gantry), await seedUser(gantry)];
  group = await seedGroup(gantry);
  projects = [
    await seedProject(gantry, { namespace: group.id }),
    await seedProject(gantry, { namespace: group.id, visibility: 'private' }),
    await seedProject(gantry, { namespace: group.id, issues_access_level: 'private' }),
  ];
  for (const { id } of projects) {
    await seedMember(gantry, { user: reporter.id, project: id, access_level: 20 });
  }
  labels = [
    await createLabel(`/groups/${group.id}`, 'first'),
    await createLabel(`/groups/${group.id}`, 'second'),
    await createLabel(`/projects/${projects[0]?.id}`, 'own'),
  ];
  for (const project of projects) await fill(project);
});
after(async () => await gantry.close());

const total = async (path: string, as: string): Promise<number> =>
  Number((await gantry.api(`GET ${path}&per_page=1`, { as })).headers.get('x-total'));

const countsOfLists = async (name: string, as: string): Promise<(string | number)[]> => {
  const place = name === 'own' ? `/projects/${projects[0]?.id}` : `/groups/${group.id}`;
  return [
    name,
    await total(`${place}/issues?scope=all&state=opened&labels=${name}`, as),
    await total(`${place}/issues?scope=all&state=closed&labels=${name}`, as),
    await total(`${place}/merge_requests?scope=all&state=opened&labels=${name}`, as),
  ];
};

const countsOfLabels = async (as: string): Promise<(string | number)[][]> => {
  const { body } = await gantry.api(`GET /projects/${projects[0]?.id}/labels`, { as });
  return body.map((label: { [field: string]: string | number }) => [
    label['name'],
    label['open_issues_count'],
    label['closed_issues_count'],
    label['open_merge_requests_count'],
  ]);
};

const compare = async (when: string): Promise<void> => {
  for (const { token } of [reporter, outsider]) {
    const counted = await countsOfLabels(token);
    assert.ok(counted.length > 0);
    const lists = [];
    for (const [name] of counted) lists.push(await countsOfLists(String(name), token));
    assert.deepEqual(counted, lists, `${when}, ${token === reporter.token ? 'reporter' : 'outsider'}`);
  }
};

test('counts what lists of the same caller show, whatever changes', async () => {
  await compare('at first');
  const [first, second] = projects;
  const issues = `/projects/${first?.id}/issues`;
  const requests = `/projects/${first?.id}/merge_requests`;
  const changes = [
    `PUT ${issues}/2?state_event=close`,
    `PUT ${issues}/1?state_event=reopen`,
    `PUT ${issues}/3?confidential=true&add_labels=first,second,own`,
    `PUT ${issues}/5?confidential=false&remove_labels=first`,
    `PUT ${issues}/6?labels=own`,
    `DELETE ${issues}/9`,
    `POST ${issues}/4/move?to_project_id=${second?.id}`,
    `POST ${issues}?title=new&labels=first,own&confidential=true`,
    `PUT ${requests}/1?state_event=close&add_labels=own`,
    `PUT ${requests}/4?labels=second`,
    `DELETE ${requests}/7`,
    `DELETE /groups/${group.id}/labels?name=second`,
  ];
  for (const line of changes) {
    assert.ok((await gantry.api(line)).status < 500, line);
    await compare(line);
  }
});

test('leaves no counts of deleted labels', async () => {
  const place = `/projects/${projects[0]?.id}`;
  const { id } = await createLabel(place, 'passing');
  await gantry.api(`POST ${place}/issues?title=x&labels=passing`);
  await gantry.api(`DELETE ${place}/labels?name=passing`);
  const { db } = gantry.service.platform.store;
  const rows = await db.selectFrom('label_counts').selectAll().where('label_id', '=', id).execute();
  assert.deepEqual(rows, []);
});

test(
  'reads no issues to count, except for callers who see only their own confidential issues',
  { skip: engine !== 'sqlite' },
  async () => {
    const database = new DatabaseSync(join(gantry.service.platform.config.data, 'gantry.sqlite'));
    const planned = (statements: readonly string[]): string[] =>
      [...new Set(statements)]
        .filter((text) => /\blabel_(?:counts|links)\b/.test(text))
        .flatMap((text) => database.prepare(`explain query plan ${text}`).all())
        .map(({ detail }) => String(detail));
    for (const withStatistics of [false, true]) {
      if (withStatistics) database.exec('analyze');
      for (const place of [`/projects/${projects[0]?.id}`, `/groups/${group.id}`]) {
        const ask = async (as: string): Promise<unknown> => await gantry.api(`GET ${place}/labels`, { as });
        const all = planned(await statementsDuring(async () => await ask(reporter.token)));
        assert.ok(
          all.some((detail) => detail.startsWith('SEARCH label_counts USING')),
          all.join('\n'),
        );
        assert.deepEqual(
          all.filter((detail) => /\b(?:issues|merge_requests|label_links)\b/.test(detail)),
          [],
        );
        const own = planned(await statementsDuring(async () => await ask(outsider.token)));
        assert.ok(
          own.some((detail) => detail.includes('issues_confidential')),
          own.join('\n'),
        );
        const usual =
          /^SEARCH issues USING (?:INTEGER PRIMARY KEY|(?:COVERING )?INDEX issues_confidential \(project_id=\? AND author_id=\?\))/;
        assert.deepEqual(
          own.filter((detail) => /^\w+ issues\b/.test(detail) && !usual.test(detail)),
          [],
        );
        assert.deepEqual(
          own.filter((detail) => /^SCAN (?!own\b|json_each)/.test(detail)),
          [],
        );
      }
    }
    database.close();
  },
);
