/** Configurations of `test/ci/configurations`, each in a project of its own, and the pipelines that are made of them. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JobConfig, loadJobConfigs } from '../../src/ci/pipelines/pipeline_rows.ts';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { openRequest, seedBranch, settle } from '../support/seed_merge_requests.ts';
import { type SeededGroup, type SeededProject, seedGroup, seedProject } from '../support/seed.ts';
import type { TestService } from '../support/service.ts';

const folder = join(import.meta.dirname, 'configurations');

const filesBelow = (pattern: string): Record<string, string> =>
  Object.fromEntries(
    globSync(pattern, { cwd: folder }).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );

// oxlint-disable-next-line typescript/no-explicit-any -- a record of the API, that tests assert on
type Seen = any;

export type Made = {
  pipeline: Seen;
  /** `stage: a, b (manual) <- [what b needs]`, a line for each stage. */
  shape: string[];
  /** What the file says of a job. */
  job: (name: string) => JobConfig & { allow_failure: boolean; tags: string[] };
};

export type Configured = {
  lint: Seen;
  /** Of the first push; null here and below: there was none. */
  main: Made | null;
  /** Of a new branch; with files: of a later push to it, which changes these alone. */
  branch: (name: string, files?: Record<string, string>) => Promise<Made | null>;
  tag: (name: string) => Promise<Made | null>;
  /** Of the branch, which has a merge request then. */
  request: (branch: string) => Promise<Made | null>;
  schedule: () => Promise<Made | null>;
  /** On main, by somebody who gives it variables. */
  withVariables: (variables: Record<string, string>) => Promise<Made | null>;
};

type Rows = { id: number; name: string; needs: string[] | null; when: string; stage: string }[];

const shapeOf = (rows: Rows): string[] =>
  [...new Set(rows.map(({ stage }) => stage))].map((stage) => {
    const own = rows.filter((row) => row.stage === stage);
    const words = own.map(({ name, needs, when }) => {
      const way = when === 'on_success' ? '' : ` (${when})`;
      return `${name}${way}${needs === null ? '' : ` <- [${needs.join('; ')}]`}`;
    });
    return `${stage}: ${words.join(', ')}`;
  });

const made = async (gantry: TestService, pipeline: Seen): Promise<Made> => {
  const { db } = gantry.service.platform.store;
  const jobs = await db
    .selectFrom('jobs')
    .selectAll()
    .where('pipeline_id', '=', pipeline.id)
    .orderBy('stage_position')
    .orderBy('id')
    .execute();
  const ids = jobs.map(({ id }) => id);
  const needs = await db.selectFrom('job_needs').selectAll().where('job_id', 'in', ids).execute();
  const configs = await loadJobConfigs(db, jobs);
  const needsOf = (id: number): string[] =>
    needs
      .filter(({ job_id }) => job_id === id)
      .map(({ name }) => name)
      .toSorted();
  const rows = jobs.map(({ id, name, stage, by_needs, run_when: when }) => ({
    id,
    name,
    stage,
    when,
    needs: by_needs === 1 ? needsOf(id) : null,
  }));
  return {
    pipeline,
    shape: shapeOf(rows),
    job: (name) => {
      const job = jobs.find((one) => one.name === name);
      assert.ok(job, `there is no job ${name}`);
      const own = { allow_failure: job.allow_failure === 1, tags: JSON.parse(job.tag_list) as string[] };
      return { ...configs.get(job.config_id)!, ...own };
    },
  };
};

/** The group with the project `shared`, of which others include files. */
export const makeAcceptance = async (gantry: TestService): Promise<SeededGroup> => {
  const group = await seedGroup(gantry, { path: 'acceptance' });
  const shared = await seedProject(gantry, { path: 'shared', namespace: group.id });
  const files = Object.entries(filesBelow('shared/*.yml'));
  await seedCommit(
    gantry,
    shared.id,
    Object.fromEntries(files.map(([name, text]) => [name.slice('shared/'.length), text])),
  );
  return group;
};

const triggersOf = (gantry: TestService, { id }: SeededProject) => {
  const at = `/projects/${id}`;
  const post = async (path: string, json: object): Promise<Seen> => {
    const { status, body, text } = await gantry.api(`POST ${at}/${path}`, { json });
    assert.equal(status, 201, text);
    return body;
  };
  const newest = async (query: string): Promise<Made | null> => {
    await settle(gantry);
    const { body } = await gantry.api(`GET ${at}/pipelines?per_page=1&${query}`);
    return body.length === 0 ? null : await made(gantry, body[0]);
  };
  return { post, newest };
};

/** A project with this configuration on `main`, and the folder of its name beside it. */
export const configure = async (
  gantry: TestService,
  group: SeededGroup,
  name: string,
): Promise<Configured> => {
  const project = await seedProject(gantry, { path: name, namespace: group.id });
  const { post, newest } = triggersOf(gantry, project);
  const { [`${name}.yml`]: text = '' } = filesBelow(`${name}.yml`);
  await seedCommit(gantry, project.id, { '.gitlab-ci.yml': text, ...filesBelow(`${name}/**/*.yml`) });
  const main = await newest('ref=main');
  const { body: lint } = await gantry.api(`GET /projects/${project.id}/ci/lint`);
  return {
    lint,
    main,
    branch: async (branch, files) => {
      const message = files === undefined ? 'First' : 'First [ci skip]';
      const first = { [`of-${branch.replaceAll('/', '-')}`]: 'x' };
      const begun = await seedCommit(gantry, project.id, first, { branch, from: 'main', message });
      const sha = files === undefined ? begun : await seedCommit(gantry, project.id, files, { branch });
      return await newest(`ref=${branch}&sha=${sha}`);
    },
    tag: async (tag) => {
      await post('repository/tags', { tag_name: tag, ref: 'main' });
      return await newest(`ref=${tag}`);
    },
    request: async (branch) => {
      await seedBranch(gantry, project, branch);
      await settle(gantry);
      await openRequest(gantry, project, branch);
      return await newest('source=merge_request_event');
    },
    schedule: async () => {
      const { id } = await post('pipeline_schedules', { description: 'x', ref: 'main', cron: '0 1 * * *' });
      await post(`pipeline_schedules/${id}/play`, {});
      return await newest('source=schedule');
    },
    withVariables: async (variables) => {
      const list = Object.entries(variables).map(([key, value]) => ({ key, value }));
      const { id } = await post('pipeline', { ref: 'main', variables: list });
      const { body } = await gantry.api(`GET /projects/${project.id}/pipelines/${id}`);
      return await made(gantry, body);
    },
  };
};
