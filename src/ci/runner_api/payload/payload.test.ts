/**
 * Tests the payload of a job for each kind of ref, in the exact types that runners decode: with a wrong type, the
 * runner loses the job.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Pushed, seedPushed } from '../../../../test/support/ci/pipelines.ts';
import { openRequest, seedBranch, settle } from '../../../../test/support/seed_merge_requests.ts';
import { type Peer, makePeer, seedRunner } from '../../../../test/support/ci/fake_runner.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
const peers: Peer[] = [];
before(async () => {
  gantry = await startTestService();
});
after(async () => {
  for (const peer of peers) peer.close();
  await gantry.close();
});

const newProject = async (): Promise<{ project: Pushed; peer: Peer }> => {
  const project = await seedPushed(gantry);
  const runner = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id] });
  const peer = makePeer(gantry, { token: runner.token });
  peers.push(peer);
  return { project, peer };
};

/** A type as a word: `int`, `text`, `flag`, `number`; a trailing `?` means null or missing; lists and records nest. */
type Kind = string | [Kind] | { [key: string]: Kind };

const isOf: Record<string, (value: unknown) => boolean> = {
  int: Number.isSafeInteger,
  number: (value) => typeof value === 'number',
  text: (value) => typeof value === 'string',
  flag: (value) => typeof value === 'boolean',
};

const fault = (value: unknown, kind: Kind, at: string): string | null => {
  if (typeof kind === 'string') {
    if (kind.endsWith('?') && (value === null || value === undefined)) return null;
    return isOf[kind.replace('?', '')]?.(value) === true ? null : `${at} is no ${kind}`;
  }
  if (Array.isArray(kind)) {
    if (value === null || value === undefined) return null;
    if (!Array.isArray(value)) return `${at} is no list`;
    return (
      value.map((one, index) => fault(one, kind[0], `${at}[${index}]`)).find((one) => one !== null) ?? null
    );
  }
  if (value === null || value === undefined) return null;
  if (typeof value !== 'object' || Array.isArray(value)) return `${at} is no record`;
  const input = value as Record<string, unknown>;
  const unknown = Object.keys(input).find((key) => !(key in kind));
  if (unknown !== undefined) return `${at}.${unknown} is not known`;
  return (
    Object.entries(kind)
      .map(([key, of]) => fault(input[key], of, `${at}.${key}`))
      .find((one) => one !== null) ?? null
  );
};

const texts: Kind = ['text'];
const variables: Kind = [
  { key: 'text', value: 'text', public: 'flag', file: 'flag', masked: 'flag', raw: 'flag' },
];
const image = {
  name: 'text',
  alias: 'text?',
  entrypoint: texts,
  command: texts,
  pull_policy: texts,
  ports: texts,
  variables: [{ key: 'text', value: 'text', public: 'flag?', file: 'flag?', masked: 'flag?', raw: 'flag?' }],
  executor_opts: { docker: { platform: 'text?', user: 'text?' } },
} satisfies Kind;

const answer: Kind = {
  id: 'int',
  token: 'text',
  allow_git_fetch: 'flag',
  job_info: {
    id: 'int',
    name: 'text',
    stage: 'text',
    project_id: 'int',
    project_name: 'text',
    project_full_path: 'text',
    namespace_id: 'int',
    pipeline_id: 'int',
    user_id: 'int',
    time_in_queue_seconds: 'number',
    project_jobs_running_on_instance_runners_count: 'text',
    project_key: 'text', // for the built-in runner; others ignore it
  },
  git_info: {
    repo_url: 'text',
    repo_object_format: 'text',
    ref: 'text',
    sha: 'text',
    before_sha: 'text',
    ref_type: 'text',
    refspecs: texts,
    depth: 'int',
    protected: 'flag',
  },
  runner_info: { timeout: 'int' },
  variables,
  steps: [{ name: 'text', script: texts, timeout: 'int', when: 'text', allow_failure: 'flag' }],
  image,
  services: [image],
  artifacts: [
    {
      name: 'text?',
      untracked: 'flag',
      paths: texts,
      exclude: texts,
      when: 'text',
      expire_in: 'text?',
      artifact_type: 'text',
      artifact_format: 'text',
    },
  ],
  cache: [
    { key: 'text', untracked: 'flag', paths: texts, policy: 'text', when: 'text', fallback_keys: texts },
  ],
  credentials: [{ type: 'text', url: 'text', username: 'text', password: 'text' }],
  dependencies: [
    { id: 'int', name: 'text', token: 'text', artifacts_file: { filename: 'text', size: 'int' } },
  ],
  features: { trace_sections: 'flag', token_mask_prefixes: texts, failure_reasons: texts },
  hooks: [{ name: 'text', script: texts }],
};

const file = `
variables: { NUMBER: 7, TRUTH: true, NOTHING: , VERSION: 1.10, LIST: { value: a, options: [a, b] } }
first: { stage: build, script: x, artifacts: { paths: [o], untracked: true, exclude: [p], expire_in: 1 day } }
full:
  image: { name: a, entrypoint: ["", b], pull_policy: [always], docker: { platform: linux/arm64, user: u } }
  services: [plain, { name: s, alias: t, command: [c], variables: { A: 1 }, pull_policy: never }]
  script: [one, [two]]
  cache: [{ key: k, paths: [c], fallback_keys: [d] }, { untracked: true }]
  artifacts: { reports: { junit: [a.xml], terraform: t.json, coverage_report: { coverage_format: cobertura, path: c.xml } } }
  hooks: { pre_get_sources_script: [h] }
bare: { script: x }
`;

describe('the payload of a job', () => {
  it('has the types that a runner decodes, and no unknown keys', async () => {
    const { project, peer } = await newProject();
    await project.push(file);
    const [{ id }] = await project.pipelines();
    assert.equal((await gantry.api(`GET ${project.path}/pipelines/${id}`)).body.yaml_errors, null);
    const names: string[] = [];
    for (let left = 3; left > 0; left -= 1) {
      const job = await peer.take();
      assert.equal(fault(job.body, answer, job.body.job_info.name), null);
      names.push(job.body.job_info.name);
      const archive = left === 3 ? { archive: Buffer.from('any') } : {};
      await peer.run(job, archive);
    }
    assert.deepEqual(names, ['first', 'full', 'bare']);
  });

  it('masks tokens by their prefixes, and has sections in traces', async () => {
    const { project, peer } = await newProject();
    await project.push('a: { script: x }');
    const { features, token } = (await peer.take()).body;
    assert.equal(features.trace_sections, true);
    for (const start of ['gntpat-', 'glcbt-', 'glrt-'])
      assert.ok(features.token_mask_prefixes.includes(start));
    assert.ok(token.startsWith('glcbt-'));
  });

  it('has each variable once, from the source with precedence, independent of other jobs', async () => {
    const { project, peer } = await newProject();
    const own = '{ CI_PROJECT_NAME: mine, CI_JOB_STAGE: other, "é": "ü" }';
    await project.push(`a: { script: x }\nb: { script: x, variables: ${own} }\nc: { script: x }`);
    const json = { key: 'CI_PROJECT_TITLE', value: 'kept' };
    assert.equal((await gantry.api(`POST ${project.path}/variables`, { json })).status, 201);
    const told: { key: string; value: string }[][] = [];
    for (let left = 3; left > 0; left -= 1) told.push((await peer.take()).body.variables);
    const [first = [], second = [], third = []] = told;
    const namesOf = (all: { key: string }[]): string[] => all.map(({ key }) => key);
    for (const all of told) assert.equal(new Set(namesOf(all)).size, all.length);
    assert.deepEqual(namesOf(third), namesOf(first));
    assert.equal(namesOf(first).at(-1), 'CI_PROJECT_TITLE');
    const overridden = ['CI_PROJECT_NAME', 'CI_JOB_STAGE', 'CI_PROJECT_TITLE'];
    const others = namesOf(first).filter((name) => !overridden.includes(name));
    assert.deepEqual(namesOf(second), [
      ...others,
      'CI_PROJECT_NAME',
      'CI_JOB_STAGE',
      'é',
      'CI_PROJECT_TITLE',
    ]);
    assert.deepEqual(
      second.slice(-4).map(({ value }) => value),
      ['mine', 'other', 'ü', 'kept'],
    );
    assert.equal(third.find(({ key }) => key === 'CI_JOB_STAGE')?.value, 'test');
  });
});

describe('what the runner fetches', () => {
  const gitOf = async (peer: Peer) => {
    const job = await peer.take();
    return { git: job.body.git_info, own: `refs/pipelines/${job.body.job_info.pipeline_id}`, job };
  };

  it('the runner fetches the tag for a pipeline of a tag', async () => {
    const { project, peer } = await newProject();
    const sha = await project.push('a: { script: x, only: [tags] }');
    await gantry.api(`POST ${project.path}/repository/tags`, { json: { tag_name: 'v1', ref: 'main' } });
    await settle(gantry);
    const { git, own } = await gitOf(peer);
    assert.deepEqual([git.ref, git.ref_type, git.sha, git.depth], ['v1', 'tag', sha, 20]);
    assert.deepEqual(git.refspecs, [`+${own}:${own}`, '+refs/tags/v1:refs/tags/v1']);
  });

  it('the runner fetches the commit for a pipeline of a merge request', async () => {
    const { project, peer } = await newProject();
    await project.push('a: { script: x, only: [merge_requests] }');
    const sha = await seedBranch(gantry, project, 'topic');
    await openRequest(gantry, project, 'topic');
    await settle(gantry);
    const { git, own } = await gitOf(peer);
    assert.deepEqual([git.ref_type, git.sha, git.protected], ['branch', sha, false]);
    assert.deepEqual(git.refspecs, [`+${own}:${own}`]);
  });

  it('is the whole history without a depth', async () => {
    const { project, peer } = await newProject();
    await project.push('a: { script: x, variables: { GIT_DEPTH: 0 } }');
    const { git, own } = await gitOf(peer);
    assert.deepEqual(
      [git.depth, git.refspecs],
      [0, [`+${own}:${own}`, '+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*']],
    );
  });

  it('the runner fetches as many commits as the project sets', async () => {
    const { project, peer } = await newProject();
    const edited = await gantry.api(`PUT ${project.path}`, { json: { ci_default_git_depth: 3 } });
    assert.equal(edited.status, 200);
    await project.push('a: { script: x }');
    assert.equal((await gitOf(peer)).git.depth, 3);
  });
});
