/**
 * What people and runners do with a cluster while its parts are restarted or killed: pushes and clones over HTTP and SSH,
 * runners that wait for jobs, write their logs and send artifacts, and readers who follow those logs.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import ssh2 from 'ssh2';
import { type Peer, type PeerJob, type PeerReply, makePeer } from '../support/ci/fake_runner.ts';
import { newWorkTree, repositoryUrl, tryGit } from '../support/repositories/git.ts';
import { type FailureLog, newFailureLog } from './failure_log.ts';
import { call, token } from './process.ts';

type Work = {
  url: string;
  failed: FailureLog;
  until: AbortSignal;
  counts: Record<'jobs' | 'streams' | `${'HTTP' | 'SSH'} ${'pushes' | 'clones'}`, number>;
};

export type Clients = Pick<Work, 'failed' | 'counts'> & {
  /** Ends all of them, and asserts that what was acknowledged is there. */
  finish: () => Promise<void>;
  /** Ends all of them where the test has failed. */
  abort: () => void;
};

const headers = { 'private-token': token };

const ask = async (url: string, line: string, json?: object) => {
  const { status, body } = await call(url, line, json);
  assert.ok(status < 300, `${line}: ${status} ${JSON.stringify(body)}`);
  return body;
};

/** Makes a project whose repository is in a storage. Services choose one at random, each by the settings that it last read. */
export const makeProjectIn = async (
  url: string,
  storage: string,
  { name, ...input }: { name: string; initialize_with_readme?: true },
): Promise<{ id: number; path: string }> => {
  for (let tries = 0; tries < 100; tries += 1) {
    const made = await ask(url, 'POST /projects', { name: `${name}-${tries}`, ...input });
    const { id, path_with_namespace: path, repository_storage } = made;
    if (repository_storage === storage) return { id: Number(id), path: String(path) };
  }
  throw new Error(`no project was made in the storage ${storage}`);
};

/** How a client reaches a repository. */
type Route = {
  /** Begins the texts of what failed. */
  label: 'HTTP' | 'SSH';
  path: string;
  address: string;
  env: Record<string, string>;
};

/** Pushes a commit, clones it, and so on. Returns the commits of which the push was acknowledged. */
const pushAndClone = async ({ failed, until, counts }: Work, route: Route): Promise<string[]> => {
  const { label, address, env } = route;
  const tree = await newWorkTree();
  const copies = mkdtempSync(join(tmpdir(), 'gantry-clones-'));
  const pushed: string[] = [];
  for (let count = 0; !until.aborted; count += 1) {
    const commit = await tree.commit(`Plank ${count}`, { [`plank-${count}`]: String(count) });
    const push = await tryGit(tree.path, ['push', '--quiet', address, 'main'], env);
    if (push.code === 0) pushed.push(commit);
    else failed.add(`${label} push: ${push.stderr}`);
    const copy = join(copies, String(count));
    const clone = await tryGit(copies, ['clone', '--quiet', address, copy], env);
    if (clone.code !== 0) failed.add(`${label} clone: ${clone.stderr}`);
    const last = pushed.at(-1);
    if (clone.code === 0 && last !== undefined) {
      const { code } = await tryGit(copy, ['merge-base', '--is-ancestor', last, 'HEAD']);
      assert.equal(code, 0, `a clone lacks ${last}, of which the push was acknowledged`);
      counts[`${label} clones`] += 1;
    }
    rmSync(copy, { recursive: true, force: true });
  }
  counts[`${label} pushes`] = pushed.length;
  await tree.remove();
  rmSync(copies, { recursive: true });
  return pushed;
};

const checkPushes = async (url: string, path: string, pushed: readonly string[]): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-clone-'));
  const clone = await tryGit(folder, ['clone', '--quiet', repositoryUrl(url, path, token), 'copy']);
  assert.equal(clone.code, 0, clone.stderr);
  const { stdout } = await tryGit(join(folder, 'copy'), ['rev-list', 'HEAD']);
  const found = new Set(stdout.split('\n'));
  assert.deepEqual(
    pushed.filter((commit) => !found.has(commit)),
    [],
    'pushes that were acknowledged',
  );
  assert.equal((await tryGit(join(folder, 'copy'), ['fsck', '--strict'])).code, 0);
  rmSync(folder, { recursive: true });
};

/** Sends again, as runners do, what no service answered. */
const untilAnswered = async (
  failed: FailureLog,
  name: string,
  send: () => Promise<PeerReply>,
): Promise<PeerReply> => {
  for (let tries = 0; tries < 600; tries += 1) {
    const reply = await send().catch((error: unknown) => String(error));
    if (typeof reply !== 'string' && reply.status < 500) return reply;
    failed.add(`${name}: ${typeof reply === 'string' ? reply : reply.status}`);
    await pause(100);
  }
  throw new Error(`nobody answered ${name}`);
};

/** Follows the log of a job as `EventSource` does, through restarts, until the job has ended. Returns all text. */
const followLog = async ({ url, failed, counts }: Work, id: number): Promise<string> => {
  let [log, last, isDone] = ['', '0', false];
  const read = async (): Promise<void> => {
    const response = await fetch(`${url}/-/jobs/${id}/trace/stream`, {
      headers: { ...headers, accept: 'text/event-stream', 'last-event-id': last },
    });
    if (response.status !== 200 || response.body === null) {
      failed.add(`log stream: ${response.status}`);
      return;
    }
    counts.streams += 1;
    let text = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const parts = (text + chunk).split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const [, data] = /^event: log\ndata: (.*)$/m.exec(part) ?? [];
        if (data !== undefined) log += (JSON.parse(data) as { text: string }).text;
        last = /^id: (\d+)$/m.exec(part)?.[1] ?? last;
        isDone ||= /^event: done$/m.test(part);
      }
    }
  };
  for (let tries = 0; !isDone; tries += 1) {
    assert.ok(tries < 2_000, 'the log of an ended job goes on');
    await read().catch(() => undefined);
    await pause(50);
  }
  return log;
};

type Ended = { id: number; log: string; followed: string };

/** Artifacts of a job, which are read again at the end. */
const archiveOf = (id: number): Buffer => Buffer.from(`archive of job ${id}`);

/** Runs a job as long as its log goes on: log, artifacts and final state. */
const runJob = async (
  work: Work,
  peer: Peer,
  job: PeerJob,
  goesOn: (lines: number) => boolean,
): Promise<Ended> => {
  const { failed } = work;
  const following = followLog(work, job.id);
  for (let lines = 0; goesOn(lines); lines += 1) {
    const text = `line ${lines} of ${job.id}\n`;
    const reply = await untilAnswered(failed, 'PATCH trace', async () => await peer.trace(job, text));
    // The service has this piece already: an answer was lost.
    if (reply.status === 416) job.log = Buffer.concat([job.log, Buffer.from(text)]);
    else assert.equal(reply.status, 202, reply.bytes.toString());
    await pause(100);
  }
  const options = { type: 'archive', format: 'raw', filename: 'artifacts.zip' };
  await untilAnswered(
    failed,
    'POST artifacts',
    async () => await peer.upload(job, archiveOf(job.id), options),
  );
  await untilAnswered(failed, 'PUT job', async () => await peer.finish(job));
  work.counts.jobs += 1;
  return { id: job.id, log: job.log.toString(), followed: await following };
};

/** Waits for a job, which a pipeline makes while this waits, runs it, and so on. */
const runJobs = async (work: Work, peer: Peer, project: number): Promise<Ended[]> => {
  const { url, failed, until } = work;
  const ended: Ended[] = [];
  while (!until.aborted) {
    const poll = untilAnswered(failed, 'POST jobs/request', async () => await peer.poll().reply);
    await pause(300);
    const made = await call(url, `POST /projects/${project}/pipeline`, { ref: 'main' }).catch(() => null);
    if (made?.status !== 201) failed.add(`POST pipeline: ${made?.status}`);
    const reply = await poll;
    if (reply.status === 204) continue;
    assert.equal(reply.status, 201, reply.bytes.toString());
    const job = { id: reply.body.id, token: reply.body.token, body: reply.body, log: Buffer.alloc(0) };
    ended.push(await runJob(work, peer, job, (lines) => lines < 5));
  }
  return ended;
};

const checkJobs = async (url: string, project: number, ended: readonly Ended[]): Promise<void> => {
  for (const { id, log, followed } of ended) {
    const job = `/projects/${project}/jobs/${id}`;
    assert.equal((await ask(url, `GET ${job}`)).status, 'success');
    const trace = await fetch(`${url}/api/v4${job}/trace`, { headers });
    assert.equal(await trace.text(), log, `the log of job ${id}`);
    assert.equal(followed, log, `the followed log of job ${id}`);
    const artifacts = await fetch(`${url}/api/v4${job}/artifacts`, { headers });
    assert.equal(await artifacts.text(), archiveOf(id).toString(), `the artifacts of job ${id}`);
  }
};

const newPeer = async (url: string): Promise<Peer> => {
  const runner = await ask(url, 'POST /user/runners', { runner_type: 'instance_type' });
  return makePeer({ url }, { token: runner.token });
};

const hasSsh = spawnSync('ssh', ['-V']).status === 0;

/** Gives the administrator a key, and returns how git uses it. */
const makeSshEnvironment = async (url: string, folder: string): Promise<Record<string, string>> => {
  const pair = ssh2.utils.generateKeyPairSync('ed25519');
  const key = join(folder, 'key');
  writeFileSync(key, pair.private, { mode: 0o600 });
  await ask(url, 'POST /user/keys', { title: 'cluster', key: pair.public });
  const settings = ['IdentitiesOnly=yes', 'BatchMode=yes', 'StrictHostKeyChecking=no', 'LogLevel=ERROR'];
  const options = [...settings, 'UserKnownHostsFile=/dev/null'].map((setting) => `-o ${setting}`);
  return { GIT_SSH_COMMAND: `ssh -F /dev/null -i ${key} ${options.join(' ')}` };
};

/** Makes the repositories of those who push: over HTTP in the storage `other`, over SSH in `default`. */
const makeRoutes = async ({ url, sshPort }: ClusterAddress, folder: string): Promise<Route[]> => {
  const { path } = await makeProjectIn(url, 'other', { name: 'pushed' });
  const routes: Route[] = [{ label: 'HTTP', path, env: {}, address: repositoryUrl(url, path, token) }];
  if (!hasSsh) return routes;
  const secure = await makeProjectIn(url, 'default', { name: 'secure' });
  const env = await makeSshEnvironment(url, folder);
  const ssh = { label: 'SSH', path: secure.path, env } as const;
  return [...routes, { ...ssh, address: `ssh://git@127.0.0.1:${sshPort}/${ssh.path}.git` }];
};

type ClusterAddress = { url: string; sshPort: number };

/** Starts all of them. Jobs and pushes over HTTP have repositories in the storage `other`. */
export const startClients = async ({ url, sshPort }: ClusterAddress): Promise<Clients> => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-clients-'));
  const built = await makeProjectIn(url, 'other', { name: 'built', initialize_with_readme: true });
  const routes = await makeRoutes({ url, sshPort }, folder);
  const [waiting, busy] = [await newPeer(url), await newPeer(url)];
  await ask(url, `POST /projects/${built.id}/repository/files/.gitlab-ci.yml`, {
    branch: 'main',
    content: 'build:\n  script: [make]\n  artifacts: {paths: [plank]}\n',
    commit_message: 'Build',
  });
  const stop = new AbortController();
  const git = { 'HTTP pushes': 0, 'HTTP clones': 0, 'SSH pushes': 0, 'SSH clones': 0 };
  const counts = { ...git, jobs: 0, streams: 0 };
  const work: Work = { url, failed: newFailureLog(), until: stop.signal, counts };
  const first = await busy.take();
  const long = runJob(work, busy, first, () => !stop.signal.aborted);
  const pushing = Promise.all(routes.map(async (route) => await pushAndClone(work, route)));
  const all = Promise.all([pushing, runJobs(work, waiting, built.id), long]);
  all.catch(() => undefined); // rethrown by `finish`
  return {
    failed: work.failed,
    counts,
    abort: () => stop.abort(),
    finish: async () => {
      stop.abort();
      const [pushed, jobs, job] = await all;
      for (const peer of [waiting, busy]) peer.close();
      for (const [at, { path, label }] of routes.entries()) {
        await checkPushes(url, path, pushed[at] ?? []);
        assert.ok(counts[`${label} pushes`] > 0 && counts[`${label} clones`] > 0, label);
      }
      await checkJobs(url, built.id, [...jobs, job]);
      assert.ok(jobs.length > 0);
      rmSync(folder, { recursive: true });
    },
  };
};
