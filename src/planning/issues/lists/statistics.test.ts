import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type SeededUser,
  seedGroup,
  seedIssue,
  seedMember,
  seedProject,
  seedUser,
} from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const counts = async (line: string, { token }: SeededUser): Promise<[number, number, number]> => {
  const { status, body, text } = await gantry.api(`GET ${line}`, { as: token });
  assert.equal(status, 200, text);
  const { all, closed, opened } = body.statistics.counts;
  assert.deepEqual(body, { statistics: { counts: { all, closed, opened } } });
  return [all, closed, opened];
};

test('counts the issues that the caller sees by state', async () => {
  const [reporter, guest] = [await seedUser(gantry), await seedUser(gantry)];
  const group = await seedGroup(gantry);
  const project = await seedProject(gantry, { namespace: group.id });
  await seedMember(gantry, { user: reporter.id, group: group.id, access_level: 20 });
  const at = { project: project.id, author: reporter.id };
  await seedIssue(gantry, { ...at, title: 'apple' });
  await seedIssue(gantry, { ...at, title: 'pear' });
  await seedIssue(gantry, { ...at, title: 'apple tree', state: 'closed' });
  await seedIssue(gantry, { ...at, confidential: 1, author: 1 });
  for (const path of [`/projects/${project.id}`, `/groups/${group.id}`]) {
    const line = `${path}/issues_statistics`;
    assert.deepEqual(await counts(line, reporter), [4, 1, 3]);
    assert.deepEqual(await counts(line, guest), [3, 1, 2]);
    assert.deepEqual(await counts(`${line}?search=apple`, guest), [2, 1, 1]);
    assert.deepEqual(await counts(`${line}?labels=none-has-it`, guest), [0, 0, 0]);
  }
  assert.deepEqual(await counts('/issues_statistics', reporter), [3, 1, 2]);
  assert.deepEqual(await counts('/issues_statistics', guest), [0, 0, 0]);
  assert.deepEqual(await counts('/issues_statistics?scope=all&search=pear', guest), [1, 0, 1]);
  const refused = await gantry.api(`GET /projects/${project.id}/issues_statistics?due_date=no`);
  assert.equal(refused.status, 400);
});

test('lists author, commenters and mentioned users with access as participants', async () => {
  const [author, speaker, mentioned, outsider] = [
    await seedUser(gantry),
    await seedUser(gantry),
    await seedUser(gantry),
    await seedUser(gantry),
  ];
  const project = await seedProject(gantry, { visibility: 'private' });
  for (const user of [author, speaker, mentioned])
    await seedMember(gantry, { user: user.id, project: project.id, access_level: 20 });
  const description = `For @${mentioned.username} and @${outsider.username}`;
  const issues = `/projects/${project.id}/issues`;
  const json = { title: 'Who', description };
  const { body: issue } = await gantry.api(`POST ${issues}`, { json, as: author.token });
  const path = `${issues}/${issue.iid}`;
  await gantry.api(`POST ${path}/notes`, { json: { body: 'Well' }, as: speaker.token });
  const { body, headers } = await gantry.api(`GET ${path}/participants`);
  assert.deepEqual(
    body.map(({ username }: { username: string }) => username),
    [author.username, speaker.username, mentioned.username],
  );
  assert.equal(headers.get('x-total'), '3');
  const unseen = await gantry.api(`GET ${path}/participants`, { as: outsider.token });
  assert.deepEqual([unseen.status, unseen.body], [404, { message: '404 Project Not Found' }]);
});
