import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type Coded,
  type Request,
  merge,
  openRequest,
  seedBranch,
  seedCoded,
} from '../../../../test/support/seed_merge_requests.ts';
import {
  type SeededIssue,
  type SeededUser,
  seedIssue,
  seedMember,
  seedUser,
} from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
let project: Coded;
let master: SeededUser;
let number = 0;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry);
  master = await seedUser(gantry);
  await seedMember(gantry, { user: master.id, project: project.id, access_level: 40 });
});
after(async () => await gantry.close());

/** Opens and merges a request; returns its JSON. */
const mergeNew = async (
  description: string,
  options: { of?: Coded; message?: string } = {},
): Promise<Request> => {
  const { of = project, message } = options;
  const branch = `branch-${(number += 1)}`;
  await seedBranch(gantry, of, branch, message === undefined ? {} : { message });
  const request = await openRequest(gantry, of, branch, { description });
  const { status, body } = await merge(gantry, request, {}, master.token);
  assert.equal(status, 200);
  return body;
};

/** Returns the state of an issue and its system notes, without mentions. */
const read = async ({ project_id, iid }: SeededIssue) => {
  const path = `/projects/${project_id}/issues/${iid}`;
  const [issue, notes] = [await gantry.api(`GET ${path}`), await gantry.api(`GET ${path}/notes`)];
  const texts = notes.body.map((note: Request) => note.body as string);
  return [issue.body.state, ...texts.filter((text: string) => !text.startsWith('mentioned in '))];
};

test('notes the merge request with its project path on an issue of another project', async () => {
  const other = await seedCoded(gantry);
  await seedMember(gantry, { user: master.id, project: other.id, access_level: 20 });
  const issue = await seedIssue(gantry, { project: other.id });
  const { iid } = await mergeNew(`Resolves ${other.full_path}#${issue.iid}`);
  assert.deepEqual(await read(issue), ['closed', `closed via merge request ${project.full_path}!${iid}`]);
});

test('hides the project of an invisible merge request in notes', async () => {
  const [hidden, open] = [await seedCoded(gantry, { visibility: 'private' }), await seedCoded(gantry)];
  const stranger = await seedUser(gantry);
  for (const { id } of [hidden, open]) {
    await seedMember(gantry, { user: master.id, project: id, access_level: 40 });
  }
  const issue = await seedIssue(gantry, { project: open.id });
  const { iid } = await mergeNew(`Closes ${open.full_path}#${issue.iid}`, { of: hidden });
  const readAs = async (as: string) => {
    const path = `/projects/${open.id}/issues/${issue.iid}`;
    const [notes, discussions] = [
      await gantry.api(`GET ${path}/notes`, { as }),
      await gantry.api(`GET ${path}/discussions`, { as }),
    ];
    const inDiscussions = discussions.body.flatMap((discussion: Request) => discussion.notes);
    const isClosing = (note: Request): boolean => note.body.startsWith('closed');
    return [notes.body.find(isClosing).body, inDiscussions.find(isClosing).body];
  };
  const named = `closed via merge request ${hidden.full_path}!${iid}`;
  assert.deepEqual(await readAs(master.token), [named, named]);
  const unnamed = 'closed via merge request of another project';
  assert.deepEqual(await readAs(stranger.token), [unnamed, unnamed]);
});

test('closes issues by commit messages; authors may close their own issues', async () => {
  const other = await seedCoded(gantry);
  const [own, anothers] = [
    await seedIssue(gantry, { project: other.id, author: master.id }),
    await seedIssue(gantry, { project: other.id }),
  ];
  const message = `Fixes ${other.full_path}#${own.iid}, ${other.full_path}#${anothers.iid}\n`;
  await mergeNew('', { message });
  assert.equal((await read(own))[0], 'closed');
  assert.deepEqual(await read(anothers), ['opened']);
});

test('does not change an issue that is closed already', async () => {
  const issue = await seedIssue(gantry, { project: project.id, state: 'closed' });
  await mergeNew(`Closes #${issue.iid}`);
  assert.deepEqual(await read(issue), ['closed']);
});

test('does not close issues of the parent of a fork', async () => {
  const upstream = await seedCoded(gantry);
  const fork = await seedCoded(gantry, {}, { forked_from_project_id: upstream.id });
  for (const { id } of [upstream, fork]) {
    await seedMember(gantry, { user: master.id, project: id, access_level: 40 });
  }
  const issue = await seedIssue(gantry, { project: upstream.id });
  await mergeNew(`Closes ${upstream.full_path}#${issue.iid}`, { of: fork });
  assert.deepEqual(await read(issue), ['opened']);
});

test('does not close issues where issues are disabled', async () => {
  const off = await seedCoded(gantry);
  await seedMember(gantry, { user: master.id, project: off.id, access_level: 40 });
  const issue = await seedIssue(gantry, { project: off.id });
  const switchTo = async (issues_access_level: 'disabled' | 'enabled'): Promise<void> => {
    await gantry.service.platform.store.write(
      async ({ db }) =>
        await db.updateTable('projects').set({ issues_access_level }).where('id', '=', off.id).execute(),
    );
  };
  await switchTo('disabled');
  await mergeNew(`Closes #${issue.iid}`, { of: off });
  await switchTo('enabled');
  assert.deepEqual(await read(issue), ['opened']);
});
