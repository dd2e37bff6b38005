/**
 * Measures the built-in runner: the time from a push to its job, from a cancellation to the end of all processes of the
 * job, and from a line of output to its reader; and the cost of a sandbox.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { chooseExecutors } from '../../../runner/executors/choose_executor.ts';
import type { Executor } from '../../../runner/executors/executor.ts';
import { marked } from '../../../runner/executors/processes.ts';
import { changeOwner, makeFolders, takeSlot } from '../../../runner/files/slot_folders.ts';
import type { Job } from '../../../runner/coordinator/protocol.ts';
import { gitEnvironment } from '../../../test/support/repositories/git.ts';
import { makeRunnerFolder } from '../../../test/support/ci/runner_process.ts';
import { api, base } from '../../sites/root_api.ts';
import type { Bench } from '../../bench.ts';
import { type CiProject, commitFile, makeCiProject } from '../../sites/ci_site.ts';
import { type Figure, median, shareFigure } from '../../measured_figures.ts';
import { treeOf } from '../../process_usage.ts';
import { type Running, rootToken, startService } from '../../service.ts';

const run = promisify(execFile);

/** Of one round. */
const times = { pushes: 8, cancels: 2, sandboxes: 8 };
const patience = 30_000;

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

const inRounds = async <T>(bench: Bench, name: string, count: number, work: () => Promise<T>) => {
  await work(); // warms up
  const rounds: T[][] = [];
  for (let round = 1; round <= bench.rounds; round += 1) {
    bench.progress(`${name}: round ${round} of ${bench.rounds}`);
    const some: T[] = [];
    for (let at = 0; at < count; at += 1) some.push(await work());
    rounds.push(some);
  }
  return rounds;
};

const until = async <T>(what: string, look: () => Promise<T | null> | T | null, every = 10): Promise<T> => {
  const end = performance.now() + patience;
  while (performance.now() < end) {
    const found = await look();
    if (found !== null) return found;
    await pause(every);
  }
  throw new Error(`timed out waiting until ${what}`);
};

type JobRow = {
  id: number;
  status: string;
  started_at: string | null;
  finished_at: string | null;
  commit: { id: string } | null;
};

type Site = { bench: Bench; server: Running; folder: string };

const newest = async (port: number, { id }: CiProject): Promise<JobRow | null> =>
  (await api<JobRow[]>(port, `GET /projects/${id}/jobs?per_page=1`))[0] ?? null;

const isOver = ({ status }: JobRow): boolean => ['success', 'failed', 'canceled'].includes(status);

const traceOf = async (port: number, { id }: CiProject, job: JobRow): Promise<string> => {
  const url = `${base(port)}/api/v4/projects/${id}/jobs/${job.id}/trace`;
  return await (await fetch(url, { headers: { 'private-token': rootToken } })).text();
};

/** Milliseconds since the push was accepted: until its job runs, until its script does, and until it is over. */
type Waits = { running: number; script: number; over: number };

const git = async (tree: string, ...args: string[]): Promise<string> =>
  (await run('git', args, { cwd: tree, env: gitEnvironment() })).stdout.trim();

const pushOne = async (port: number, project: CiProject, tree: string): Promise<Waits> => {
  await git(tree, 'commit', '--quiet', '--allow-empty', '--message', 'Change');
  const sha = await git(tree, 'rev-parse', 'HEAD');
  await git(tree, 'push', '--quiet', 'origin', 'HEAD:main');
  const accepted = Date.now();
  const job = await until(
    'the job is over',
    async () => {
      const row = await newest(port, project);
      return row?.commit?.id === sha && isOver(row) ? row : null;
    },
    50,
  );
  const log = await traceOf(port, project, job);
  const said = /^at (\d+\.\d+)/m.exec(log)?.[1];
  if (job.status !== 'success' || said === undefined) throw new Error(`the job is ${job.status}:\n${log}`);
  const since = (at: number): number => Math.max(0, at - accepted);
  return {
    running: since(Date.parse(job.started_at ?? '')),
    script: since(Number(said) * 1000),
    over: since(Date.parse(job.finished_at ?? '')),
  };
};

const measurePushes = async ({ bench, server, folder }: Site): Promise<Figure[]> => {
  const { port } = server;
  const file = 'job:\n  script:\n    - echo "at $EPOCHREALTIME"\n';
  const project = await makeCiProject(port, 'pushed', file);
  const tree = join(folder, 'tree');
  await git(folder, 'clone', '--quiet', `http://x:${rootToken}@127.0.0.1:${port}/${project.path}.git`, tree);
  const rounds = await inRounds(
    bench,
    'pushes',
    times.pushes,
    async () => await pushOne(port, project, tree),
  );
  const spawned: number[] = [];
  for (let at = 0; at < times.pushes; at += 1)
    spawned.push(await timed(async () => await run('bash', ['-c', 'true'])));
  const of = (wait: keyof Waits): number[][] => rounds.map((some) => some.map((waits) => waits[wait]));
  const floor = median(spawned);
  return [
    shareFigure('push accepted -> job runs', of('running'), 0.5, bench.goals.ciPush),
    shareFigure('push accepted -> job runs', of('running'), 0.95, bench.goals.ciPushLate),
    shareFigure('push accepted -> first line of its script', of('script'), 0.5, { floor }),
    shareFigure('push accepted -> job is over', of('over'), 0.5, { floor }),
  ];
};

/** A script whose processes do not end by themselves, one of them in a session of its own. */
const stubborn = 'setsid sleep 1000 & sleep 1000 & echo ready; wait';

const cancelOne = async (port: number, project: CiProject, root: number): Promise<number> => {
  await api(port, `POST /projects/${project.id}/pipeline`, { ref: 'main' });
  const job = await until('the job runs', async () => {
    const row = await newest(port, project);
    return row?.status === 'running' && /^ready/m.test(await traceOf(port, project, row)) ? row : null;
  });
  const below = new Set(treeOf(root));
  const marks = new Set(marked().flatMap(({ pid, mark }) => (below.has(pid) ? [mark] : [])));
  if (marks.size === 0) throw new Error('nothing of the job is seen');
  await api(port, `POST /projects/${project.id}/jobs/${job.id}/cancel`);
  const wait = await timed(
    async () =>
      await until('nothing is left', () => (marked().some(({ mark }) => marks.has(mark)) ? null : true), 5),
  );
  await until('it has ended', async () =>
    (await newest(port, project))?.status === 'canceled' ? true : null,
  );
  return wait;
};

const measureCancels = async ({ bench, server }: Site): Promise<Figure[]> => {
  const { port, pid } = server;
  const project = await makeCiProject(port, 'cancelled', 'job:\n  script: ["true"]\n');
  await until('it is over', async () => {
    const row = await newest(port, project);
    return row !== null && isOver(row) ? row : null;
  });
  const file = `job:\n  script:\n    - ${JSON.stringify(stubborn)}\n  rules:\n    - if: $CI_PIPELINE_SOURCE == "api"\n`;
  await commitFile(port, project, '.gitlab-ci.yml', file, 'update');
  const one = async (): Promise<number> => await cancelOne(port, project, pid);
  const rounds = await inRounds(bench, 'cancels', times.cancels, one);
  const name = 'cancelled -> no process is left';
  return [
    shareFigure(name, rounds, 0.5, bench.goals.ciCancel),
    shareFigure(name, rounds, 0.95, bench.goals.ciCancel),
  ];
};

/** Lines of one job, each a moment after the one before. */
const lines = 40;
const talk = `for i in $(seq ${lines}); do echo "at $EPOCHREALTIME"; sleep 0.07; done`;

/** Milliseconds from each line that a job prints until a reader of its page has received it. */
const streamOne = async (port: number, project: CiProject): Promise<number[]> => {
  await api(port, `POST /projects/${project.id}/pipeline`, { ref: 'main' });
  const job = await until('the job runs', async () => {
    const row = await newest(port, project);
    return row?.status === 'running' ? row : null;
  });
  const url = `${base(port)}/-/jobs/${job.id}/trace/stream?offset=0`;
  const { body, status } = await fetch(url, { headers: { 'private-token': rootToken } });
  if (body === null || status !== 200) throw new Error(`the stream answered ${status}`);
  const waits: number[] = [];
  let text = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const now = Date.now();
    text += chunk;
    // Lines in JSON: one begins behind a quote, or behind the `n` of the one before.
    const whole = text.slice(0, text.lastIndexOf('\\n') + 1);
    for (const [, at] of whole.matchAll(/["n]at (\d+\.\d+)/g)) waits.push(now - Number(at) * 1000);
    text = text.slice(whole.length);
  }
  if (waits.length !== lines) throw new Error(`${waits.length} of ${lines} lines came`);
  return waits;
};

const measureStream = async ({ bench, server: { port } }: Site): Promise<Figure[]> => {
  const file = `job:\n  script:\n    - ${JSON.stringify(talk)}\n  rules:\n    - if: $CI_PIPELINE_SOURCE == "api"\n`;
  const project = await makeCiProject(port, 'streamed', file);
  const rounds = await inRounds(bench, 'lines of a log', 1, async () => await streamOne(port, project));
  const waits = rounds.map((some) => some.flat());
  const name = 'line of a job -> who looks at its log';
  return [shareFigure(name, waits, 0.5), shareFigure(name, waits, 0.95, bench.goals.ciLine)];
};

const script = 'script';

/** The parts of a job that its executor reads. */
const emptyJob = {
  job_info: { name: 'job', stage: 'test', project_id: 1, project_name: 'project' },
  variables: [],
} as unknown as Job;

/** Measures an empty script in one kind of execution, in milliseconds; null, with the reason, where that fails. */
const runOf = async (
  wanted: 'sandbox' | 'shell',
  folder: string,
): Promise<(() => Promise<number>) | null> => {
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const slot = takeSlot(folder, new Set(), process.getuid?.() === 0);
  const { choice, notices } = await chooseExecutors({
    requested: wanted,
    isLocal: true,
    folder,
    user: slot.user,
  });
  const chosen = choice?.choose(emptyJob);
  if (chosen === undefined || typeof chosen === 'string') {
    console.error(`Not measured: ${notices.join(' ')}`);
    return null;
  }
  const { executor }: { executor: Executor } = chosen;
  const folders = await makeFolders(slot, '1', executor.builds);
  writeFileSync(join(folders.files, script), 'true\n', { mode: 0o644 });
  changeOwner(slot.user, join(folders.files, script));
  const { user } = slot;
  const stop = new AbortController().signal;
  const setting = {
    job: emptyJob,
    folders,
    values: new Map<string, string>(),
    user,
    mark: 'bench',
    own: slot.folder,
  };
  const session = await executor.begin({ ...setting, say: () => undefined, stop });
  let number = 0;
  return async () => {
    number += 1;
    const mark = `bench-${wanted}-${process.pid}-${number}`;
    const said: Buffer[] = [];
    const onOutput = (chunk: Buffer): void => void said.push(chunk);
    const task = { job: emptyJob, folders, script, user, mark, onOutput, stop };
    const wait = timed(async () => {
      const { code } = await session.run(task);
      if (code !== 0) throw new Error(`it ended with ${code}: ${Buffer.concat(said).toString()}`);
    });
    return await wait;
  };
};

const measureSandbox = async (bench: Bench, folder: string): Promise<Figure[]> => {
  const shell = await runOf('shell', join(folder, 'shell'));
  const sandbox = await runOf('sandbox', join(folder, 'sandbox'));
  if (shell === null) return [];
  const plain = await inRounds(bench, 'shell', times.sandboxes, shell);
  const floor = median(plain.flat());
  const name = 'script that does nothing, in';
  const figures = [shareFigure(`${name} a shell`, plain, 0.5)];
  if (sandbox === null) return figures;
  const inner = await inRounds(bench, 'sandbox', times.sandboxes, sandbox);
  const more = inner.map((some) => some.map((wait) => wait - floor));
  return [
    ...figures,
    shareFigure(`${name} a sandbox with its network`, inner, 0.5, { floor }),
    shareFigure('what a sandbox adds', more, 0.5, bench.goals.ciSandbox),
  ];
};

export const measureCiRunner = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('ci_runner')) return [];
  const location = await bench.databases.empty();
  const folder = await makeRunnerFolder();
  // Jobs and the pushing git may use the other core, too.
  const server = await startService(location, {
    everyCore: true,
    environment: { GANTRY_RUNNER_EXECUTOR: 'shell', GANTRY_RUNNER_FOLDER: join(folder, 'runner') },
  });
  try {
    const site = { bench, server, folder: join(location.data, '..') };
    const figures = [...(await measurePushes(site)), ...(await measureCancels(site))];
    return [...figures, ...(await measureStream(site)), ...(await measureSandbox(bench, folder))];
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};
