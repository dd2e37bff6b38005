/** API document: the lists of jobs; behaviour book 4.0 to 4.2, 1.6. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JobStatus } from '../../../src/platform/db/schema/ci.ts';
import { type SeededPipeline, seedPipeline, setJob } from '../../support/ci/jobs.ts';
import { type CodeWorld, startCodeWorld } from '../code_world.ts';
import { type Reply, type Team, answer } from '../world.ts';

let world: CodeWorld;
/** A project with two pipelines. */
let team: Team;
let first: SeededPipeline;
let second: SeededPipeline;
/** Of another project: a job of each status, which is its name. */
let scoped: SeededPipeline;

const words = [
  'created',
  'pending',
  'running',
  'failed',
  'success',
  'canceled',
  'skipped',
  'manual',
] as const;
/** What the API shows as something else. */
const inner: [JobStatus, string][] = [
  ['scheduled', 'created'],
  ['waiting_for_resource', 'created'],
  ['canceling', 'canceled'],
];
const statuses: JobStatus[] = [...words, ...inner.map(([status]) => status)];

const fileOf = (names: readonly string[]): string =>
  names.map((name) => `${name}: { script: make }\n`).join('');

before(async () => {
  world = await startCodeWorld();
  const { gantry } = world;
  team = await world.codeTeam();
  first = await seedPipeline(gantry, { project: team.id, file: fileOf(['a', 'b', 'c', 'd']) });
  second = await seedPipeline(gantry, { project: team.id, file: fileOf(['e', 'f']) });
  await setJob(gantry, first.jobs['a']!, { status: 'failed', retried: 1 });
  const own = await world.codeTeam();
  scoped = await seedPipeline(gantry, { project: own.id, file: fileOf(statuses) });
  // Whose cancelling began long ago is ended by the sweep, and what waits goes on.
  const cancelled_at = Date.now();
  for (const status of statuses) await setJob(gantry, scoped.jobs[status]!, { status, cancelled_at });
});
after(async () => await world.close());

type Listed = { id: number; name: string; status: string };

const namesOf = ({ status, body, text }: Reply): string[] => {
  assert.equal(status, 200, text);
  return (body as Listed[]).map(({ name }) => name);
};

const idsOf = ({ body }: Reply): number[] => (body as Listed[]).map(({ id }) => id);

const totalOf = ({ headers }: Reply): number => Number(headers.get('x-total'));

const newestFirst = (ids: number[]): number[] => ids.toSorted((a, b) => b - a);

const bad = [400, { message: { scope: ['does not have a valid value'] } }];

/** Both lists take `scope` alike: `list` asks for the jobs of `scoped`. */
const scopeCases = (list: (query: string) => Promise<Reply>): void => {
  const only = async (query: string, ...wanted: string[]): Promise<void> => {
    const reply = await list(`per_page=100&${query}`);
    assert.deepEqual(namesOf(reply).toSorted(), wanted.toSorted(), query);
    assert.equal(totalOf(reply), wanted.length, query);
  };
  const behind = (word: string): string[] => [
    word,
    ...inner.filter(([, shown]) => shown === word).map(([status]) => status),
  ];
  for (const word of words) {
    it(`scope=${word}, as a string and in an array`, async () => {
      for (const query of [`scope=${word}`, `scope[]=${word}`, `scope[0]=${word}`]) {
        await only(query, ...behind(word));
      }
    });
    it(`jobs listed as ${word} say so`, async () => {
      const { body } = await list(`per_page=100&scope=${word}`);
      assert.deepEqual([...new Set((body as Listed[]).map(({ status }) => status))], [word]);
    });
  }
  it('several scopes: any of them', async () => {
    await only('scope[]=running&scope[]=failed', 'running', 'failed');
    await only('scope[0]=pending&scope[1]=manual', 'pending', 'manual');
    await only('scope[]=success&scope[]=success', 'success');
  });
  it('several scopes come newest first, too, over pages', async () => {
    const wanted = ['manual', 'failed', 'running', 'pending'].map((name) => scoped.jobs[name]!);
    const query = 'scope[]=running&scope[]=failed&scope[]=pending&scope[]=manual&per_page=3';
    const pages = [await list(query), await list(`${query}&page=2`), await list(`${query}&page=3`)];
    assert.deepEqual(pages.flatMap(idsOf), newestFirst(wanted));
    assert.deepEqual(pages.map(totalOf), [4, 4, 4]);
  });
  it('all scopes, or none: every job', async () => {
    await only(words.map((word) => `scope[]=${word}`).join('&'), ...statuses);
    await only('scope=', ...statuses);
    await only('scope[]=', ...statuses);
  });
  for (const query of [
    'scope=unknown',
    'scope[]=unknown',
    'scope[]=running&scope[]=unknown',
    'scope=Running',
    'scope=running,failed',
    // Only ever an answer of play.
    'scope=started',
    'scope=scheduled',
    'scope=canceling',
  ]) {
    it(`${query}: 400`, async () => assert.deepEqual(answer(await list(query)), bad));
  }
};

const denied = [403, { message: '403 Forbidden' }];
const hiddenProject = [404, { message: '404 Project Not Found' }];
const missing = [404, { message: '404 Not found' }];

/** Both lists are for the same people. `path` is that of the list in a project that is made for it. */
const rightsCases = (pathIn: (project: number) => Promise<string>): void => {
  const told = async (path: string, as: string | null) => answer(await world.api(`GET ${path}`, { as }));
  it('401 for nobody, also in a public project', async () => {
    const path = await pathIn((await world.codeTeam()).id);
    assert.deepEqual(await told(path, null), [401, { message: '401 Unauthorized' }]);
  });
  it('404 where the project is hidden or missing', async () => {
    const hidden = await world.codeTeam({ visibility: 'private' });
    const path = await pathIn(hidden.id);
    assert.deepEqual(await told(path, hidden.stranger.token), hiddenProject);
    const nowhere = path.replace(`/${hidden.id}/`, '/999999/');
    assert.deepEqual(await told(nowhere, hidden.owner.token), hiddenProject);
  });
  it('if pipelines are public: for everyone who sees the project', async () => {
    const open = await world.codeTeam();
    assert.equal((await told(await pathIn(open.id), open.stranger.token))[0], 200);
    const hidden = await world.codeTeam({ visibility: 'private' });
    assert.equal((await told(await pathIn(hidden.id), hidden.guest.token))[0], 200);
  });
  it('if they are not: for reporters and above', async () => {
    const own = await world.codeTeam({}, { public_builds: 0 });
    const path = await pathIn(own.id);
    for (const { token } of [own.stranger, own.guest]) assert.deepEqual(await told(path, token), denied);
    for (const { token } of [own.reporter, own.developer, own.master, own.owner]) {
      assert.equal((await told(path, token))[0], 200);
    }
  });
  for (const [what, column] of [
    ['jobs', 'builds_access_level'],
    ['code', 'repository_access_level'],
  ] as const) {
    it(`403 where ${what} are switched off; where they are for members, to others`, async () => {
      const own = await world.codeTeam();
      const path = await pathIn(own.id);
      const both = async () => [
        (await told(path, own.owner.token))[0],
        (await told(path, own.stranger.token))[0],
      ];
      await world.setProject(own.id, { [column]: 'disabled' });
      assert.deepEqual(await both(), [403, 403]);
      await world.setProject(own.id, { [column]: 'private' });
      assert.deepEqual(await both(), [200, 403]);
    });
  }
};

const pagesOf = async (path: string, ids: number[]): Promise<void> => {
  const all = newestFirst(ids);
  const page = await world.api(`GET ${path}?per_page=2&page=2&scope=`);
  assert.deepEqual(idsOf(page), all.slice(2, 4));
  const header = (name: string) => page.headers.get(`x-${name}`);
  assert.deepEqual(['total', 'total-pages', 'per-page', 'page', 'prev-page'].map(header), [
    String(all.length),
    String(Math.ceil(all.length / 2)),
    '2',
    '2',
    '1',
  ]);
  assert.match(page.headers.get('link')!, /page=1&per_page=2[^>]*>; rel="prev"/);
  const past = await world.api(`GET ${path}?per_page=2&page=9`);
  assert.deepEqual([past.status, past.body, totalOf(past)], [200, [], all.length]);
  assert.deepEqual(idsOf(await world.api(`GET ${path}`)), all);
};

describe('GET /projects/:id/jobs', () => {
  const pathOf = (project: number): string => `/projects/${project}/jobs`;
  const all = () => [...Object.values(first.jobs), ...Object.values(second.jobs)];

  it('lists all jobs of the project, newest first, including retried ones', async () => {
    const reply = await world.api(`GET ${pathOf(team.id)}`);
    assert.deepEqual([reply.status, idsOf(reply)], [200, newestFirst(all())]);
    assert.equal(totalOf(reply), 6);
  });
  it('by the path of the project', async () => {
    const reply = await world.api(`GET /projects/${encodeURIComponent(team.full_path)}/jobs`);
    assert.deepEqual(idsOf(reply), newestFirst(all()));
  });
  it('an empty list without jobs, and without code', async () => {
    for (const own of [await world.codeTeam(), await world.team()]) {
      const reply = await world.api(`GET ${pathOf(own.id)}`);
      assert.deepEqual([reply.status, reply.body, totalOf(reply)], [200, [], 0]);
    }
  });
  it('pages, with their headers', async () => await pagesOf(pathOf(team.id), all()));
  it('pages of one status go on where the last one ended', async () => {
    const list = async (page: number) =>
      await world.api(`GET ${pathOf(team.id)}?scope=pending&per_page=2&page=${page}`);
    const pages = [await list(1), await list(2), await list(3)];
    assert.deepEqual(
      pages.flatMap(idsOf),
      newestFirst(all()).filter((id) => id !== first.jobs['a']),
    );
    assert.deepEqual(pages.map(totalOf), [5, 5, 5]);
  });
  describe('scope', () => {
    scopeCases(async (query) => await world.api(`GET ${pathOf(scoped.project_id)}?${query}`));
  });
  describe('rights', () => rightsCases(async (project) => pathOf(project)));
});

describe('GET /projects/:id/pipelines/:pipeline_id/jobs', () => {
  const pathOf = ({ id, project_id }: SeededPipeline): string =>
    `/projects/${project_id}/pipelines/${id}/jobs`;

  it('lists the jobs of the pipeline, newest first, including retried ones', async () => {
    const reply = await world.api(`GET ${pathOf(first)}`);
    assert.deepEqual([reply.status, idsOf(reply)], [200, newestFirst(Object.values(first.jobs))]);
    assert.equal(totalOf(reply), 4);
    assert.deepEqual(namesOf(await world.api(`GET ${pathOf(second)}`)).toSorted(), ['e', 'f']);
  });
  it('include_retried=false: excludes retried jobs', async () => {
    for (const word of ['false', '0']) {
      const reply = await world.api(`GET ${pathOf(first)}?include_retried=${word}`);
      assert.deepEqual([namesOf(reply).toSorted(), totalOf(reply)], [['b', 'c', 'd'], 3]);
    }
    assert.equal(totalOf(await world.api(`GET ${pathOf(first)}?include_retried=true`)), 4);
    assert.deepEqual(answer(await world.api(`GET ${pathOf(first)}?include_retried=x`)), [
      400,
      { message: { include_retried: ['is invalid'] } },
    ]);
  });
  it('pages, with their headers', async () => {
    await pagesOf(pathOf(first), Object.values(first.jobs));
  });
  it('404 for a pipeline of another project, and for none', async () => {
    for (const id of [scoped.id, 999_999, 0, -1]) {
      assert.deepEqual(answer(await world.api(`GET /projects/${team.id}/pipelines/${id}/jobs`)), missing);
    }
  });
  it('pipeline_id has to be an integer', async () => {
    assert.deepEqual(answer(await world.api(`GET /projects/${team.id}/pipelines/x/jobs`)), [
      400,
      { message: { pipeline_id: ['is invalid'] } },
    ]);
  });
  describe('scope', () => {
    scopeCases(async (query) => await world.api(`GET ${pathOf(scoped)}?${query}`));
  });
  describe('rights', () => {
    rightsCases(async (project) =>
      pathOf(await seedPipeline(world.gantry, { project, file: fileOf(['a']) })),
    );
  });
});

describe('GET /projects/:id/pipelines/:pipeline_id/bridges', () => {
  const pathOf = (project: number, pipeline: number): string =>
    `/projects/${project}/pipelines/${pipeline}/bridges`;
  it('none: no job starts another pipeline', async () => {
    const reply = await world.api(`GET ${pathOf(team.id, first.id)}?scope[]=failed`);
    assert.deepEqual([reply.status, reply.body, totalOf(reply)], [200, [], 0]);
  });
  it('404 without such a pipeline, 400 for an unknown scope', async () => {
    assert.deepEqual(answer(await world.api(`GET ${pathOf(team.id, scoped.id)}`)), missing);
    assert.deepEqual(answer(await world.api(`GET ${pathOf(team.id, first.id)}?scope=x`)), bad);
  });
  describe('rights', () => {
    rightsCases(async (project) =>
      pathOf(project, (await seedPipeline(world.gantry, { project, file: fileOf(['a']) })).id),
    );
  });
});
