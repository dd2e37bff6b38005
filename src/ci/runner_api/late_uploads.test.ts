/** Tests uploads that arrive while their job ends, is erased or is deleted: nothing of them stays. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { getLogName } from '../../../test/support/ci/artifacts.ts';
import { type Pushed, seedPushed } from '../../../test/support/ci/pipelines.ts';
import { settle } from '../../../test/support/seed_merge_requests.ts';
import {
  type Peer,
  type PeerJob,
  multipartForm,
  makePeer,
  seedRunner,
} from '../../../test/support/ci/fake_runner.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import type { TraceKey } from '../../platform/blob/trace_path.ts';
import { getJobCache } from './running_job_cache.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const newJob = async (): Promise<{ project: Pushed; peer: Peer; job: PeerJob; log: TraceKey }> => {
  const project = await seedPushed(gantry);
  const runner = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id] });
  const peer = makePeer(gantry, { token: runner.token });
  await project.push('build: { script: make }');
  const job = await peer.take();
  return { project, peer, job, log: await getLogName(gantry, job.id) };
};

type Sent = { method: string; path: string; type: string; body: Buffer; headers?: Record<string, string> };

/** Sends half of the body, waits until the job is authenticated, and returns a function that sends the rest. */
const sendHalf = async (job: PeerJob, { method, path, type, body, headers = {} }: Sent) => {
  const { heard } = getJobCache(gantry.service.platform);
  heard.delete(job.id);
  const outgoing = request(`${gantry.url}/api/v4/jobs/${job.id}${path}`, {
    method,
    headers: { 'job-token': job.token, 'content-type': type, 'content-length': body.length, ...headers },
  });
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  answered.catch(() => undefined);
  const half = Math.floor(body.length / 2);
  outgoing.write(body.subarray(0, half));
  while (!heard.has(job.id)) await wait(5);
  return async (): Promise<number | undefined> => {
    outgoing.end(body.subarray(half));
    const [answer] = await answered;
    answer.resume();
    return answer.statusCode;
  };
};

const text = Buffer.from('a line of a log that comes late\n');
const traceOf = (): Sent => ({
  method: 'PATCH',
  path: '/trace',
  type: 'text/plain',
  body: text,
  headers: { 'content-range': `0-${text.length - 1}` },
});
const wholeOf = (job: PeerJob): Sent => ({
  method: 'PUT',
  path: '',
  type: 'application/json',
  body: Buffer.from(JSON.stringify({ token: job.token, state: 'running', trace: 'x'.repeat(3_000_000) })),
});
const archiveOf = (): Sent => {
  const { type, body } = multipartForm(Buffer.alloc(100_000, 'z'), 'artifacts.zip');
  return { method: 'POST', path: '/artifacts?artifact_type=archive&artifact_format=zip', type, body };
};

const erase = async (project: Pushed, peer: Peer, job: PeerJob): Promise<void> => {
  assert.equal((await peer.finish(job)).status, 200);
  const { status, text: told } = await gantry.api(`POST ${project.path}/jobs/${job.id}/erase`);
  assert.equal(status, 201, told);
};

const removePipeline = async (project: Pushed): Promise<void> => {
  const [{ id }] = await project.pipelines();
  assert.equal((await gantry.api(`DELETE ${project.path}/pipelines/${id}`)).status, 204);
};

const removeProject = async (project: Pushed): Promise<void> =>
  assert.equal((await gantry.api(`DELETE ${project.path}`)).status, 202);

const ways: Record<string, (project: Pushed, peer: Peer, job: PeerJob) => Promise<void>> = {
  'its job is erased': erase,
  'its pipeline is deleted': removePipeline,
  'its project is deleted': removeProject,
};
const kinds: Record<string, (job: PeerJob) => Sent> = {
  'a piece of a log': traceOf,
  'a whole log': wholeOf,
  'an archive': archiveOf,
};

const leftOf = async ({ log }: { log: TraceKey }) => {
  const { store, traces } = gantry.service.platform;
  const rows = await store.db
    .selectFrom('artifacts')
    .select('id')
    .where('project_id', '=', log.project_id)
    .execute();
  return { rows: rows.length, trace: await traces.size(log) };
};

for (const [way, act] of Object.entries(ways)) {
  describe(`while ${way}`, () => {
    for (const [kind, sentOf] of Object.entries(kinds)) {
      it(`${kind} leaves nothing`, async () => {
        const made = await newJob();
        const { project, peer, job } = made;
        const rest = await sendHalf(job, sentOf(job));
        await act(project, peer, job);
        await settle(gantry);
        const status = await rest();
        // 503: the bytes were removed again; a retry gets 403.
        assert.ok(status === 403 || status === 404 || status === 503, String(status));
        await settle(gantry);
        assert.deepEqual(await leftOf(made), { rows: 0, trace: null });
      });
    }
  });
}

it('refuses an archive that arrives after its job has ended', async () => {
  const made = await newJob();
  const { peer, job } = made;
  const rest = await sendHalf(job, archiveOf());
  await peer.finish(job);
  assert.equal(await rest(), 403);
  assert.equal((await leftOf(made)).rows, 0);
});
