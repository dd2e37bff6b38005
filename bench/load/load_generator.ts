/** The load generator: a separate process that sends the requests of a job and checks the answers. */
import { Connection, type Answer } from './connection.ts';
import type { Command, Job, Outcome, CheckedRequest } from './load_job.ts';

/** The status of every answer is checked; of lists, one answer in this many is parsed. */
const parsedEvery = 16;
const openConnections = 64;

type Prepared = { request: CheckedRequest; render: (n: number) => string };

const prepare = ({ token }: Job, request: CheckedRequest): Prepared => {
  const { method, path, body } = request;
  const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nprivate-token: ${token}\r\nuser-agent: bench\r\n`;
  if (body === undefined) {
    const text = `${head}\r\n`;
    return { request, render: () => text };
  }
  return {
    request,
    render: (n) => {
      const filled = body.replaceAll('{n}', String(n));
      const length = Buffer.byteLength(filled);
      return `${head}content-type: application/json\r\ncontent-length: ${length}\r\n\r\n${filled}`;
    },
  };
};

type Shown = { id: number; iid: number; title: string };

const problemOf = (request: CheckedRequest, n: number, { status, body }: Answer): string | null => {
  if (status !== request.status)
    return `${request.method} ${request.path}: ${status} ${body.toString('utf8', 0, 200)}`;
  if (request.ids !== undefined) {
    if (n % parsedEvery !== 0) return null;
    const ids = (JSON.parse(body.toString()) as Shown[]).map(({ id }) => id);
    return ids.join() === request.ids.join()
      ? null
      : `${request.path}: ids ${ids.join()} in place of ${request.ids.join()}`;
  }
  if (request.iid === undefined && request.titleIsSent === undefined) return null;
  const shown = JSON.parse(body.toString()) as Shown;
  if (request.iid !== undefined && shown.iid !== request.iid) return `${request.path}: iid ${shown.iid}`;
  if (request.titleIsSent === true && !shown.title.endsWith(` ${n}`))
    return `${request.path}: title ${shown.title}`;
  return null;
};

let sent = 0;

class Run {
  readonly #prepared: Prepared[];
  readonly #outcome: Outcome = { answered: 0, latencies: [], wrong: [], wrongCount: 0 };

  constructor(job: Job) {
    this.#prepared = job.requests.map((request) => prepare(job, request));
  }

  /** Sends the next request; `due`: when it should have been sent. */
  async one(connection: Connection, due: number): Promise<void> {
    sent += 1;
    const n = sent;
    const prepared = this.#prepared[n % this.#prepared.length];
    if (prepared === undefined) throw new Error('nothing to send');
    const answer = await connection.send(prepared.render(n));
    this.#outcome.latencies.push(performance.now() - due);
    this.#outcome.answered += 1;
    const problem = problemOf(prepared.request, n, answer);
    if (problem === null) return;
    this.#outcome.wrongCount += 1;
    if (this.#outcome.wrong.length < 5) this.#outcome.wrong.push(problem);
  }

  result(): Outcome {
    const latencies = Float64Array.from(this.#outcome.latencies).toSorted();
    return { ...this.#outcome, latencies: [...latencies] };
  }
}

const openAll = async (port: number, count: number): Promise<Connection[]> =>
  await Promise.all(Array.from({ length: count }, () => Connection.open(port)));

const closedLoop = async (job: Job, connections: number, more: () => boolean): Promise<Outcome> => {
  const run = new Run(job);
  const all = await openAll(job.port, connections);
  const loop = async (connection: Connection): Promise<void> => {
    while (more()) await run.one(connection, performance.now());
  };
  await Promise.all(all.map(loop));
  for (const connection of all) connection.close();
  return run.result();
};

/** Requests leave at their times whether or not the ones before were answered. */
const openLoop = async (job: Job, rate: number, seconds: number): Promise<Outcome> => {
  const run = new Run(job);
  const free = await openAll(job.port, openConnections);
  const all = [...free];
  const begin = performance.now() + 20;
  const due = Array.from({ length: Math.round(rate * seconds) }, (_, index) => begin + (index * 1000) / rate);
  const open = new Set<Promise<void>>();
  let next = 0;
  const send = (connection: Connection, at: number): void => {
    const done = run.one(connection, at).then(() => {
      free.push(connection);
      open.delete(done);
    });
    open.add(done);
  };
  while (next < due.length) {
    while (next < due.length && (due[next] ?? 0) <= performance.now()) {
      // In turn: the service closes a connection that is idle for long.
      const connection = free.shift();
      if (connection === undefined) break;
      send(connection, due[next] ?? 0);
      next += 1;
    }
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  await Promise.all(open);
  for (const connection of all) connection.close();
  return run.result();
};

const execute = async (command: Command): Promise<Outcome> => {
  switch (command.kind) {
    case 'closed': {
      const end = performance.now() + command.seconds * 1000;
      return await closedLoop(command.job, command.connections, () => performance.now() < end);
    }
    case 'count': {
      let left = command.requests;
      return await closedLoop(command.job, command.connections, () => (left -= 1) >= 0);
    }
    case 'open':
      return await openLoop(command.job, command.rate, command.seconds);
    default:
      throw new Error('an unknown command');
  }
};

process.on('message', (command: Command) => {
  execute(command).then(
    (outcome) => process.send?.({ outcome }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
