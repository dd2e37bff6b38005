/** Tests that pages of a merge request do not name the private fork that it comes from, except to its members. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline } from '../../../../../../test/support/ci/jobs.ts';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import { unique } from '../../../../../../test/support/seed.ts';
import {
  type Request,
  merge,
  openRequest,
  seedCoded,
  settle,
  waitForCheck,
} from '../../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { type Visitor, getMatching, openVisitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let list: string;
let target: number;
let fork: { id: number; path: string };
let member: SeededVisitor;
let maintainer: SeededVisitor;

before(async () => {
  gantry = await startTestService();
  const project = await seedCoded(gantry, { visibility: 'public' });
  target = project.id;
  list = `/${project.full_path}/merge_requests`;
  const path = unique('secretive');
  const json = { path, name: path, visibility: 'private' };
  const { body } = await gantry.api(`POST /projects/${target}/fork`, { json });
  await settle(gantry);
  fork = { id: body.id, path };
  maintainer = await seedVisitor(gantry, { project: target, access_level: 40 });
  member = await seedVisitor(gantry, { project: fork.id, access_level: 30 });
});
after(async () => await gantry.close());

const openFromFork = async (branch: string, files: Record<string, string>): Promise<Request> => {
  const sha = await seedCommit(gantry, fork.id, files, { branch, from: 'main' });
  await seedPipeline(gantry, { project: fork.id, file: 'a:\n  script: x', ref: branch, sha });
  const request = await openRequest(gantry, fork, branch, { target_project_id: target });
  await settle(gantry);
  return request;
};

/** Returns the addresses whose answer names the fork. */
const listNaming = async (visitor: Visitor, paths: readonly string[]): Promise<string[]> => {
  const found: string[] = [];
  for (const path of paths) {
    const { status, text } = await visitor.get(path);
    assert.equal(status, 200, `${path}: ${text}`);
    if (text.includes(fork.path)) found.push(path);
  }
  return found;
};

const requireHidden = async ({ iid }: Request): Promise<void> => {
  const tabs = ['', '/commits', '/pipelines', '/diffs', '/versions'].map((tab) => `${list}/${iid}${tab}`);
  const pages = [
    ...tabs,
    `${list}?state=all`,
    `${list.replace('/merge_requests', '/-/merge_requests')}.atom?state=all`,
  ];
  const stranger = await seedVisitor(gantry);
  for (const visitor of [maintainer.visitor, stranger.visitor, openVisitor(gantry)])
    assert.deepEqual(await listNaming(visitor, pages), []);
  const forUsers = [`${list}/${iid}/edit`, `${list}/export?state=all`];
  assert.deepEqual(await listNaming(maintainer.visitor, forUsers), []);
  const shown = await listNaming(member.visitor, pages);
  assert.ok(shown.includes(`${list}/${iid}`), 'its members see it');
};

test('hides the fork of an open merge request', async () => {
  const request = await openFromFork('open', { 'new.txt': 'x\n' });
  await waitForCheck(gantry, request);
  await requireHidden(request);
});

test('hides the fork of a merge request with conflicts', async () => {
  const request = await openFromFork('clash', { 'clash.txt': 'theirs\n' });
  await seedCommit(gantry, target, { 'clash.txt': 'ours\n' }, { branch: 'main', from: 'main' });
  await settle(gantry);
  const text = await getMatching(maintainer.visitor, `${list}/${request.iid}`, /How to resolve them/);
  assert.match(text, /How to resolve them/);
  await requireHidden(request);
});

test('hides the fork of a merged merge request', async () => {
  const request = await openFromFork('merged', { 'merged.txt': 'x\n' });
  const { status, text } = await merge(gantry, request);
  assert.equal(status, 200, text);
  await settle(gantry);
  await requireHidden(request);
});
