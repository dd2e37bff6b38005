/** What the storm meets: users, projects with code, CI and discussions, and where each record is found. */
import assert from 'node:assert/strict';
import { seedArtifact, seedTrace, buildZip } from '../support/ci/artifacts.ts';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { seedPipeline, setJob } from '../support/ci/jobs.ts';
import { openRequest, seedBranch, settle } from '../support/seed_merge_requests.ts';
import { type SeededProject, seedGroup, seedMember, seedProject, seedUser } from '../support/seed.ts';
import { seedRunner } from '../support/ci/fake_runner.ts';
import { type TestService, rootToken } from '../support/service.ts';
import { freshKey } from '../support/repositories/ssh_keys.ts';
import { type Make, type Place, maker } from './path_params.ts';
import { seedAccess, seedInstance, seedIssueEvents, seedShares } from './seed_access.ts';
import { seedCi } from './seed_ci.ts';
import { seedBoard, seedCodeRecords } from './seed_code.ts';
import { seedDiscussions } from './seed_discussions.ts';

export type World = {
  tokens: Record<'root' | 'member' | 'stranger' | 'nobody', string | null>;
  places: Place[];
};

const ciFile = `
stages: [build, deploy]
done: { stage: build, script: make, allow_failure: true }
waits: { stage: build, script: make, artifacts: { paths: [out] } }
asks: { stage: build, script: make, when: manual }
later: { stage: deploy, script: make, when: delayed, start_in: 1 day }
calls: { stage: build, trigger: { include: child.yml, strategy: depend } }
serves: { stage: build, script: make, resource_group: x, environment: { name: bug, url: 'https://x.example.com' } }
`;

const files = {
  'README.md': 'Read me\n',
  'child.yml': 'inner: { script: make }\n',
  '.gitlab-ci.yml': 'again: { script: make, when: manual }\n',
};

const seedJobs = async (
  gantry: TestService,
  make: Make,
  project: SeededProject,
  sha: string,
): Promise<void> => {
  const under = '/projects/:id';
  const made = await seedPipeline(gantry, { project: project.id, file: ciFile, sha, ref: 'x' });
  await setJob(gantry, made.jobs['done'] ?? 0, { status: 'failed', started_at: 1, finished_at: 2 });
  const done = { id: made.jobs['done'] ?? 0, project_id: project.id };
  await seedArtifact(gantry, done, await buildZip({ 'out/a.txt': 'a\n' }));
  await seedTrace(gantry, done, 'made\n');
  make.place(`${under}/pipelines/:pipeline_id`, { id: project.id, pipeline_id: made.id });
  for (const job_id of Object.values(made.jobs)) {
    make.place(`${under}/jobs/:job_id`, { id: project.id, job_id, artifact_path: 'out/a.txt' });
  }
  make.place(`${under}/jobs/:job_id/play`, { id: project.id, job_id: made.jobs['asks'] ?? 0 });
  for (const word of ['artifacts', 'trace', 'artifacts/keep', 'erase', 'retry']) {
    make.place(`${under}/jobs/:job_id/${word}`, {
      id: project.id,
      job_id: done.id,
      artifact_path: 'out/a.txt',
    });
  }
  make.place(`${under}/jobs/artifacts/:ref_name`, {
    id: project.id,
    ref_name: 'x',
    job: 'done',
    artifact_path: 'out/a.txt',
  });
  make.place(`${under}/resource_groups/:key`, { id: project.id, key: 'x' });
};

/** Runners, and a job that one of them runs. */
const seedRunners = async (gantry: TestService, make: Make, projects: number[]): Promise<void> => {
  for (const project of projects) {
    const runner = await seedRunner(gantry, { runner_type: 'project_type', projects: [project] });
    make.place('/runners/:id', { id: runner.id });
    for (const at of ['/jobs/request', '/runners/verify', '/runners/managers'])
      make.place(at, { token: runner.token });
    make.place('/projects/:id/runners/:runner_id', { id: project, runner_id: runner.id });
    const { status, body } = await gantry.api('POST /jobs/request', {
      as: null,
      json: { token: runner.token, info: { features: {} } },
    });
    if (status === 201) make.place('/jobs/:id', { id: body.id, token: body.token });
  }
  const { token } = (await gantry.api('POST /runners/reset_registration_token')).body;
  make.place('/runners', { token });
};

const seedOwn = async (make: Make, users: number[]): Promise<void> => {
  for (const user of users) {
    make.place('/users/:id', { id: user });
    make.place('/users/:user_id', { user_id: user });
    await make('/users/:id/keys', { id: user }, { title: 'bug', key: freshKey() }, { key_id: 'id' });
    const token = { name: 'bug', scopes: ['api'] };
    await make('/users/:user_id/impersonation_tokens', { user_id: user }, token, {
      impersonation_token_id: 'id',
    });
  }
  for (const title of ['bug', 'ui', 'x']) {
    await make('/user/keys', {}, { title, key: freshKey() }, { key_id: 'id' });
    await make('/snippets', {}, { title, file_name: 'x.rb', content: 'puts 1' }, { id: 'id' });
    const application = { name: title, redirect_uri: 'https://x.example.com/back', scopes: 'api' };
    await make('/applications', {}, application, { id: 'id' });
    await make('/admin/ci/variables', {}, { key: title, value: 'team' }, { key: 'key' });
    await make('/user/personal_access_tokens', {}, { name: title, scopes: ['api'] }, {});
  }
};

const seedGroups = async (make: Make, groups: number[], user: number): Promise<void> => {
  for (const id of groups) {
    make.place('/groups/:id', { id });
    await make('/groups/:id/members', { id }, { user_id: user, access_level: 30 }, { user_id: 'id' });
    for (const name of ['bug', 'ui', 'x']) {
      // What is below has the names of what is above it.
      const own = `${name}-${id}`;
      const json = { name: own, color: '#ff0000' };
      const label = await make('/groups/:id/labels', { id }, json, { label_id: 'name' });
      await seedBoard(make, '/groups/:id', id, label.id);
      await make('/groups/:id/milestones', { id }, { title: own }, { milestone_id: 'id' });
      await make('/groups/:id/variables', { id }, { key: name, value: 'team' }, { key: 'key' });
    }
  }
};

export const seedWorld = async (gantry: TestService): Promise<World> => {
  const places: Place[] = [];
  const make = maker(gantry, places);
  const member = await seedUser(gantry, { username: 'member' });
  const stranger = await seedUser(gantry, { username: 'stranger' });
  const others = [await seedUser(gantry), await seedUser(gantry), await seedUser(gantry)].map(({ id }) => id);
  const team = await seedGroup(gantry, { path: 'team', visibility: 'private', owner: member.id });
  const inner = await seedGroup(gantry, { path: 'inner', parent: team.id, visibility: 'private' });
  const guests = await seedGroup(gantry, { path: 'guests', visibility: 'private' });
  const projects = [
    await seedProject(gantry, { path: 'first', visibility: 'public' }),
    await seedProject(gantry, { path: 'deep', namespace: inner.id, visibility: 'private' }),
    await seedProject(gantry, { path: 'own', owner: member.id, visibility: 'internal' }),
  ];
  await seedMember(gantry, { user: member.id, project: projects[0]?.id ?? 0, access_level: 40 });
  await seedGroups(make, [team.id, inner.id], others[0] ?? 0);
  await seedOwn(make, others);
  await seedInstance(make, others[0] ?? 0);
  for (const { id } of [team, inner]) {
    await seedAccess(make, '/groups/:id', id);
    await seedShares(make, '/groups/:id', id, guests.id);
  }
  for (const project of projects) {
    make.place('/projects/:id', { id: project.id });
    const sha = await seedCommit(gantry, project.id, files);
    await seedJobs(gantry, make, project, sha);
    for (const branch of ['x', 'v1.0', 'bug', 'ui']) {
      await seedBranch(gantry, project, branch);
      await openRequest(gantry, project, branch);
    }
    for (let n = 0; n < 5; n += 1) {
      const by = n === 2 && project.path === 'first' ? stranger.token : rootToken;
      const json = { title: 'bug', confidential: n === 1, assignee_ids: n === 0 ? [member.id] : [] };
      await gantry.api(`POST /projects/${project.id}/issues`, { as: by, json });
    }
    await seedCi(make, project.id, sha);
    await seedCodeRecords(make, project.id, sha);
    await seedDiscussions(gantry, make, project.id);
    await seedAccess(make, '/projects/:id', project.id);
    await seedShares(make, '/projects/:id', project.id, guests.id);
    await seedIssueEvents(gantry, make, project.id);
    const json = { user_id: others[1], access_level: 30 };
    await make('/projects/:id/members', { id: project.id }, json, { user_id: 'id' });
  }
  await seedRunners(
    gantry,
    make,
    projects.map(({ id }) => id),
  );
  assert.ok(places.length > 300);
  return {
    tokens: { root: rootToken, member: member.token, stranger: stranger.token, nobody: null },
    places,
  };
};

/**
 * Waits until the background work is done. Removes the webhooks that requests made first: their receivers do not exist,
 * and each delivery would wait for one and be tried again.
 */
export const settleWithoutHooks = async (gantry: TestService): Promise<void> => {
  await gantry.service.platform.store.write(async ({ db }) => await db.deleteFrom('hooks').execute());
  await settle(gantry);
};
