/** The cost of a job's way through a runner, counted instead of timed: statements of each request. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline } from '../support/ci/jobs.ts';
import { seedCoded } from '../support/seed_merge_requests.ts';
import { type Peer, type PeerJob, makePeer, seedRunner } from '../support/ci/fake_runner.ts';
import { type TestService, startTestService } from '../support/service.ts';

/** Jobs of a pipeline, enough to show a cost that grows with their number. */
const jobs = 60;
const together = 20;

/** Of one job that is taken alone; of each of many that are taken at once; of an end; of a piece of a log. */
const mostAlone = 14;
const mostTogether = 9;
const mostAtEnd = 7;
const mostOfPiece = 1;

let gantry: TestService;
let peers: Peer[];

before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'info' });
  const { id: project, first: sha } = await seedCoded(gantry);
  const file = Array.from({ length: jobs }, (_none, at) => `job ${at}: { script: make ${at} }`).join('\n');
  await seedPipeline(gantry, { project, file, sha });
  const { token } = await seedRunner(gantry);
  peers = Array.from({ length: together }, () => makePeer(gantry, { token }));
  // The first request fills caches and starts the pipeline.
  for (const peer of peers) await peer.request();
});
after(async () => {
  for (const peer of peers) peer.close();
  await gantry.close();
});

type Line = { msg: string; route: string; statements: number };

/** Statements of each request for this route, once so many were answered. */
const statementsOf = async (
  route: string,
  number: number,
  work: () => Promise<unknown>,
): Promise<number[]> => {
  const seen = gantry.logged().length;
  await work();
  for (;;) {
    const lines = gantry.logged().slice(seen);
    const found = lines
      .map((line) => JSON.parse(line) as Line)
      .filter((line) => line.msg === 'request' && line.route === `/api/v4${route}`);
    if (found.length >= number) return found.map(({ statements }) => statements);
    await new Promise((resolve) => void setImmediate(resolve));
  }
};

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

const peer = (): Peer => peers[0] as Peer;

test('takes a job with no more statements in a long pipeline', async () => {
  const [statements = NaN] = await statementsOf('/jobs/request', 1, async () => await peer().take());
  assert.ok(statements <= mostAlone, `${statements} statements`);
});

test('shares statements among runners that take jobs at once', async () => {
  const work = async (): Promise<unknown> => await Promise.all(peers.map(async (one) => await one.take()));
  const statements = await statementsOf('/jobs/request', together, work);
  assert.ok(sum(statements) <= mostTogether * together, `${statements.join()} statements`);
});

test('appends to a log in one statement, and ends a job with as many in a long pipeline', async () => {
  const job: PeerJob = await peer().take();
  // The first piece creates the file and checks access.
  await statementsOf('/jobs/:id/trace', 1, async () => await peer().trace(job, 'one\n'));
  const [piece = NaN] = await statementsOf(
    '/jobs/:id/trace',
    1,
    async () => await peer().trace(job, 'two\n'),
  );
  assert.ok(piece <= mostOfPiece, `${piece} statements`);
  // The first end of a pipeline fills caches for the next.
  await peer().finish(await peer().take());
  const [statements = NaN] = await statementsOf('/jobs/:id', 1, async () => await peer().finish(job));
  assert.ok(statements <= mostAtEnd, `${statements} statements`);
});
