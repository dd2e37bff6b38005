/** API document: the trace of a job; behaviour book 4.7; and the same as it grows, by server-sent events. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import type { JobStatus } from '../../../src/platform/db/schema/ci.ts';
import { getLogName, seedTrace } from '../../support/ci/artifacts.ts';
import { seedPipeline, setJob } from '../../support/ci/jobs.ts';
import { rootToken, startTestService } from '../../support/service.ts';
import { type CodeWorld, startCodeWorld } from '../code_world.ts';
import type { Team } from '../world.ts';

let world: CodeWorld;
let team: Team;

before(async () => {
  world = await startCodeWorld();
  team = await world.codeTeam();
});
after(async () => await world.close());

type Made = { id: number; project_id: number };

const made = async (status: JobStatus = 'success', project = team.id): Promise<Made> => {
  const pipeline = await seedPipeline(world.gantry, { project, ref: 'topic', file: 'a: { script: make }' });
  const id = pipeline.jobs['a'] ?? 0;
  await setJob(world.gantry, id, { status });
  return { id, project_id: project };
};

const pathOf = ({ id, project_id }: Made): string => `/projects/${project_id}/jobs/${id}/trace`;

type RequestOptions = { as?: string | null; headers?: Record<string, string> };

const get = async (path: string, options: RequestOptions = {}, method = 'GET') =>
  await world.api(`${method} ${path}`, options);

describe('GET /projects/:id/jobs/:job_id/trace', () => {
  const text = '\x1b[32m$ make\x1b[0;m\r\nsection_start:1700000000:step\r\x1b[0KGröße\n';

  it('serves the bytes as they were printed', async () => {
    const job = await made();
    await seedTrace(world.gantry, job, text);
    const got = await get(pathOf(job));
    assert.deepEqual([got.status, got.text], [200, text]);
    assert.equal(got.headers.get('content-type'), 'text/plain');
    assert.equal(got.headers.get('content-disposition'), `infile; filename="${job.id}.log"`);
    assert.equal(got.headers.get('content-length'), String(Buffer.byteLength(text)));
    assert.equal(got.headers.get('x-content-type-options'), 'nosniff');
    const head = await get(pathOf(job), {}, 'HEAD');
    assert.deepEqual(
      [head.status, head.headers.get('content-length')],
      [200, String(Buffer.byteLength(text))],
    );
  });

  it('serves what a running job printed so far', async () => {
    const job = await made('running');
    await seedTrace(world.gantry, job, 'one\n');
    assert.equal((await get(pathOf(job))).text, 'one\n');
    await seedTrace(world.gantry, job, 'two\n');
    assert.equal((await get(pathOf(job))).text, 'one\ntwo\n');
  });

  it('serves a part', async () => {
    const job = await made();
    await seedTrace(world.gantry, job, '0123456789');
    const cases: [range: string, status: number, text: string, contentRange: string | null][] = [
      ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
      ['bytes=7-', 206, '789', 'bytes 7-9/10'],
      ['bytes=-2', 206, '89', 'bytes 8-9/10'],
      ['bytes=10-', 416, '', 'bytes */10'],
      ['lines=1-2', 200, '0123456789', null],
    ];
    for (const [range, status, part, contentRange] of cases) {
      const got = await get(pathOf(job), { headers: { range } });
      assert.deepEqual(
        [got.status, got.text, got.headers.get('content-range')],
        [status, part, contentRange],
      );
    }
  });

  it('answers 404 where there is none, for no job, and for a job of another project', async () => {
    const [job, other] = [await made(), await world.codeTeam()];
    const none = await get(pathOf(job));
    assert.deepEqual([none.status, none.body], [404, { message: '404 Not Found' }]);
    const missing = await get(`/projects/${team.id}/jobs/99999999/trace`);
    assert.deepEqual([missing.status, missing.body], [404, { message: '404 Not found' }]);
    await seedTrace(world.gantry, job, 'x');
    assert.equal((await get(`/projects/${other.id}/jobs/${job.id}/trace`)).status, 404);
  });

  it('serves those who may read jobs', async () => {
    const closed = await world.codeTeam({ visibility: 'private' });
    await world.setProject(closed.id, { public_builds: 0 });
    const job = await made('success', closed.id);
    await seedTrace(world.gantry, job, 'x');
    const statusOf = async (as: string | null): Promise<number> => (await get(pathOf(job), { as })).status;
    assert.equal(await statusOf(closed.reporter.token), 200);
    assert.equal(await statusOf(closed.guest.token), 403);
    assert.equal(await statusOf(closed.stranger.token), 404);
    assert.equal(await statusOf(null), 401);
  });
});

type Event = { id: string | undefined; event: string; data: Record<string, unknown> };

const eventOf = (block: string): Event => {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const [name = '', value = ''] = line.split(/: (.*)/s);
      return [name, value];
    }),
  );
  const data = JSON.parse(fields.get('data') ?? '{}') as Record<string, unknown>;
  return { id: fields.get('id'), event: fields.get('event') ?? '', data };
};

/** Reads events as they come. */
const listen = async (
  id: number,
  { as = rootToken, headers = {}, query = '' }: RequestOptions & { query?: string } = {},
) => {
  const options = request(`${world.url}/-/jobs/${id}/trace/stream${query}`, {
    headers: { ...(as !== null && { 'private-token': as }), ...headers },
  }).end();
  const [answer] = (await once(options, 'response')) as [IncomingMessage];
  const blocks = (async function* read(): AsyncGenerator<Event> {
    let text = '';
    for await (const chunk of answer.setEncoding('utf8') as AsyncIterable<string>) {
      text += chunk;
      for (let at = text.indexOf('\n\n'); at !== -1; at = text.indexOf('\n\n')) {
        const block = text.slice(0, at);
        text = text.slice(at + 2);
        if (!block.startsWith(':')) yield eventOf(block);
      }
    }
  })();
  const next = async (): Promise<Event> => {
    const { value, done } = await blocks.next();
    assert.ok(done !== true, 'the stream has ended');
    return value;
  };
  /** The texts of the next events, until there are so many bytes. */
  const textTo = async (bytes: number): Promise<string> => {
    let text = '';
    while (Buffer.byteLength(text) < bytes) {
      const { event, data } = await next();
      assert.equal(event, 'log');
      text += String(data['text']);
    }
    return text;
  };
  return {
    answer,
    next,
    textTo,
    ended: async () => (await blocks.next()).done,
    leave: () => options.destroy(),
  };
};

describe('GET /-/jobs/:id/trace/stream', () => {
  it('sends output as it arrives, and the final status', async () => {
    const job = await made('running');
    const stream = await listen(job.id);
    assert.equal(stream.answer.statusCode, 200);
    assert.equal(stream.answer.headers['content-type'], 'text/event-stream');
    assert.equal(stream.answer.headers['cache-control'], 'no-store');
    assert.deepEqual(await stream.next(), { id: undefined, event: 'status', data: { status: 'running' } });
    await seedTrace(world.gantry, job, 'one\n');
    assert.deepEqual(await stream.next(), { id: '4', event: 'log', data: { offset: 0, text: 'one\n' } });
    await seedTrace(world.gantry, job, 'two: größe\n');
    assert.equal(await stream.textTo(13), 'two: größe\n');
    await setJob(world.gantry, job.id, { status: 'failed' });
    assert.deepEqual((await stream.next()).data, { status: 'failed' });
    assert.deepEqual(await stream.next(), { id: undefined, event: 'done', data: { status: 'failed' } });
    assert.equal(await stream.ended(), true);
  });

  it('sends the whole trace of an ended job', async () => {
    const job = await made();
    const text = `${'ü'.repeat(100_000)}\n`;
    await seedTrace(world.gantry, job, text);
    const stream = await listen(job.id);
    assert.equal((await stream.next()).event, 'status');
    assert.equal(await stream.textTo(Buffer.byteLength(text)), text);
    assert.equal((await stream.next()).event, 'done');
    const empty = await listen((await made()).id);
    assert.equal((await empty.next()).event, 'status');
    assert.equal((await empty.next()).event, 'done');
  });

  it('resumes from an offset', async () => {
    const job = await made();
    await seedTrace(world.gantry, job, 'aä0123456789');
    const rest = async (options: RequestOptions & { query?: string }): Promise<Event> => {
      const stream = await listen(job.id, options);
      await stream.next();
      const event = await stream.next();
      stream.leave();
      return event;
    };
    assert.deepEqual(await rest({ headers: { 'last-event-id': '5' } }), {
      id: '13',
      event: 'log',
      data: { offset: 5, text: '23456789' },
    });
    assert.deepEqual((await rest({ query: '?offset=11' })).data, { offset: 11, text: '89' });
    assert.equal((await rest({ headers: { 'last-event-id': '13' } })).event, 'done');
    assert.equal((await rest({ headers: { 'last-event-id': 'x' } })).data['offset'], 0);
  });

  it('never splits a character, and waits for the rest of one', async () => {
    const job = await made('running');
    const [first, second] = [Buffer.from('a€').subarray(0, 2), Buffer.from('a€').subarray(2)];
    await seedTrace(world.gantry, job, first);
    const stream = await listen(job.id);
    await stream.next();
    assert.deepEqual((await stream.next()).data, { offset: 0, text: 'a' });
    await seedTrace(world.gantry, job, second);
    assert.deepEqual(await stream.next(), { id: '4', event: 'log', data: { offset: 1, text: '€' } });
    stream.leave();
  });

  it('tells a runner that the trace is being watched, while a viewer is connected', async () => {
    const job = await made('running');
    const { traces } = world.gantry.service.platform;
    const log = await getLogName(world.gantry, job.id);
    const stream = await listen(job.id);
    await stream.next();
    assert.ok(traces.isWatched(log));
    stream.leave();
    while (traces.isWatched(log)) await new Promise((later) => setTimeout(later, 10));
  });

  it('is allowed to readers of the trace alone', async () => {
    const closed = await world.codeTeam({ visibility: 'private' });
    await world.setProject(closed.id, { public_builds: 0 });
    const job = await made('success', closed.id);
    const statusOf = async (as: string | null, id = job.id): Promise<number | undefined> => {
      const { answer, leave } = await listen(id, { as });
      leave();
      return answer.statusCode;
    };
    assert.equal(await statusOf(closed.reporter.token), 200);
    assert.equal(await statusOf(closed.guest.token), 404);
    assert.equal(await statusOf(closed.stranger.token), 404);
    assert.equal(await statusOf(rootToken, 99_999_999), 404);
    assert.equal(await statusOf(null), 401);
  });

  const losses: [what: string, lose: (own: Team, token: string) => Promise<void>][] = [
    [
      'is no member any more',
      async (own) => {
        const { id } = own.reporter;
        assert.equal((await world.api(`DELETE /projects/${own.id}/members/${id}`)).status, 204);
      },
    ],
    [
      'is blocked',
      async (own) => assert.equal((await world.api(`POST /users/${own.reporter.id}/block`)).status, 201),
    ],
    [
      'has revoked the token',
      async (_own, token) => {
        const { store } = world.gantry.service.platform;
        const digest = hash('sha256', token, 'hex');
        await store.write(async ({ db }) => {
          await db.updateTable('tokens').set({ revoked: 1 }).where('token_hash', '=', digest).execute();
        });
      },
    ],
    [
      'finds the jobs of the project switched off',
      async (own) => await world.setProject(own.id, { builds_access_level: 'disabled' }),
    ],
  ];
  for (const [what, lose] of losses) {
    it(`sends nothing more to a user who ${what}`, async () => {
      const own = await world.codeTeam({ visibility: 'private' });
      const job = await made('running', own.id);
      const { token } = own.reporter;
      const stream = await listen(job.id, { as: token });
      await stream.next();
      await seedTrace(world.gantry, job, 'one\n');
      assert.equal(await stream.textTo(4), 'one\n');
      await lose(own, token);
      world.gantry.setTime(Date.now() + 3_000);
      await seedTrace(world.gantry, job, 'two\n');
      assert.equal(await stream.ended(), true);
      world.gantry.setTime(null);
    });
  }

  it('is limited per user; other users keep theirs', async () => {
    const job = await made('running');
    const all = await Promise.all(Array.from({ length: 60 }, async () => await listen(job.id)));
    const refused = all.filter(({ answer }) => answer.statusCode === 503);
    assert.ok(refused.length >= 10);
    const as = team.master.token;
    const other = await listen(job.id, { as });
    assert.equal(other.answer.statusCode, 200);
    for (const { leave } of [...all, other]) leave();
  });

  it('ends when the service stops', async () => {
    const own = await startTestService();
    const before = world;
    world = { ...before, gantry: own, url: own.url };
    try {
      const project = await world.gantry.api('POST /projects', { json: { name: 'streams' } });
      const job = await made('running', project.body.id as number);
      const stream = await listen(job.id);
      await stream.next();
      await own.close();
      assert.equal(await stream.ended(), true);
    } finally {
      world = before;
    }
  });
});
