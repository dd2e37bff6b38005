/** A project that is pushed to with git itself, and what becomes of its pipelines. */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { newWorkTree, repositoryUrl } from '../support/repositories/git.ts';
import { settle } from '../support/seed_merge_requests.ts';
import { type Peer, makePeer, seedRunner } from '../support/ci/fake_runner.ts';
import { type ProjectSeed, type SeededProject, seedProject } from '../support/seed.ts';
import { type TestService, rootToken } from '../support/service.ts';
import { untilFound } from '../support/until.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- records of the API, that tests assert on
type Seen = any;

type PushOptions = {
  branch?: string;
  message?: string;
  /** More words for `git push`. */
  words?: string[];
  /** Name of a tag that is pushed in place of the branch. */
  tag?: string;
};

export type CiProject = SeededProject & {
  /** Its path in the API. */
  at: string;
  /** Commits files, or a configuration alone, and pushes; waits for what follows. Answers the commit's id. */
  push: (config: string | Record<string, string>, options?: PushOptions) => Promise<string>;
  /** The newest first. */
  pipelines: (query?: string) => Promise<Seen[]>;
  newest: () => Promise<Seen>;
  /** The newest of this name. */
  job: (name: string) => Promise<Seen>;
  /** `name: status` of all jobs of the newest pipeline whose place no other has taken, as they stand in it. */
  states: () => Promise<string[]>;
  untilJob: (name: string, status: string) => Promise<Seen>;
  untilPipeline: (status: string) => Promise<Seen>;
  trace: (name: string) => Promise<string>;
  /** Takes the jobs of this project alone. */
  peer: () => Promise<Peer>;
  remove: () => Promise<void>;
};

const pushing = async (gantry: TestService, { full_path }: SeededProject) => {
  const tree = await newWorkTree();
  await tree.git('remote', 'add', 'origin', repositoryUrl(gantry.url, full_path, rootToken));
  const push: CiProject['push'] = async (config, options = {}) => {
    const { branch = 'main', message = 'Change it', words = [], tag } = options;
    const files = typeof config === 'string' ? { '.gitlab-ci.yml': config } : config;
    const current = await tree.git('branch', '--show-current');
    if (current !== branch) await tree.git('checkout', '--quiet', '-b', branch);
    for (const name of Object.keys(files)) await mkdir(join(tree.path, dirname(name)), { recursive: true });
    const sha = await tree.commit(message, files);
    if (tag !== undefined) await tree.git('tag', tag);
    const ref = tag === undefined ? `HEAD:refs/heads/${branch}` : `refs/tags/${tag}`;
    await tree.git('push', '--quiet', ...words, 'origin', ref);
    await settle(gantry);
    return sha;
  };
  return { push, remove: tree.remove };
};

export const makeCiProject = async (
  gantry: TestService,
  attributes: ProjectSeed = {},
): Promise<CiProject> => {
  const project = await seedProject(gantry, attributes);
  const at = `/projects/${project.id}`;
  const get = async (path: string): Promise<Seen> => (await gantry.api(`GET ${at}/${path}`)).body;
  const pipelines = async (query = ''): Promise<Seen[]> => await get(`pipelines?${query}`);
  const newest = async (): Promise<Seen> => (await pipelines())[0];
  const job = async (name: string): Promise<Seen> =>
    (await get('jobs?per_page=100')).find((one: Seen) => one.name === name);
  const states = async (): Promise<string[]> => {
    const jobs: Seen[] = await get(
      `pipelines/${(await newest()).id}/jobs?include_retried=false&per_page=100`,
    );
    return jobs.toReversed().map(({ name, status }) => `${name}: ${status}`);
  };
  return {
    ...project,
    ...(await pushing(gantry, project)),
    at,
    pipelines,
    newest,
    job,
    states,
    untilJob: async (name, status) =>
      await untilFound(`${name} is ${status}`, async () => {
        const found = await job(name);
        return found?.status === status ? found : null;
      }),
    untilPipeline: async (status) =>
      await untilFound(`the pipeline is ${status}`, async () => {
        const found = await newest();
        return found?.status === status ? found : null;
      }),
    trace: async (name) => (await gantry.api(`GET ${at}/jobs/${(await job(name)).id}/trace`)).text,
    peer: async () => {
      const runner = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id] });
      return makePeer(gantry, { token: runner.token });
    },
  };
};
