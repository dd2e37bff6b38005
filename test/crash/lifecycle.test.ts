/** Services stop and start besides others without dropping accepted requests. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { until } from '../support/until.ts';
import { findFaults } from './invariants.ts';
import { type Place, call, callAll, engine, newPlace, token, startTogether } from './process.ts';

let place: Place;
before(() => void (place = newPlace()));
after(async () => await place.remove());

const makeProject = async (url: string, name: string): Promise<number> => {
  const { status, body } = await call(url, 'POST /projects', { name });
  assert.equal(status, 201, JSON.stringify(body));
  return Number(body.id);
};

type Wire = { socket: Socket; text: () => string; closed: Promise<unknown> };

const open = async (url: string): Promise<Wire> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => void (text += part));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const closed = new Promise((resolve) => void socket.once('close', resolve));
  return { socket, text: () => text, closed };
};

/** Opens idle connections that have each received a response. */
const keepAlive = async (url: string, count: number): Promise<Wire[]> =>
  await Promise.all(
    Array.from({ length: count }, async () => {
      const wire = await open(url);
      wire.socket.write('GET /-/liveness HTTP/1.1\r\nHost: x\r\n\r\n');
      await until('the response is complete', () => wire.text().endsWith('{"status":"ok"}'));
      return wire;
    }),
  );

const isRefused = async (url: string): Promise<boolean> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const refused = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
  });
  socket.destroy();
  return refused;
};

const request = (project: number, title: string): [head: string, body: string] => {
  const body = JSON.stringify({ title });
  const head = [
    `POST /api/v4/projects/${project}/issues HTTP/1.1`,
    'Host: x',
    `Private-Token: ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  return [`${head.join('\r\n')}\r\n\r\n`, body];
};

describe('SIGTERM', () => {
  it('answers pending requests, refuses new ones, and exits with 0 despite idle connections', async () => {
    const running = await place.start();
    const project = await makeProject(running.url, 'slow');
    const idle = await keepAlive(running.url, 40);
    const [slow, asking] = (await keepAlive(running.url, 2)) as [Wire, Wire];
    const [head, body] = request(project, 'half sent');
    slow.socket.write(head + body.slice(0, 5));
    asking.socket.write('GET /-/readiness HTTP/1.1\r\nHost: x\r\n');
    await call(running.url, 'GET /version'); // what was sent before it has been read
    running.signal('SIGTERM');
    await Promise.all(idle.map(({ closed }) => closed));
    assert.ok(await isRefused(running.url), 'a new connection was taken');
    asking.socket.write('\r\n');
    await asking.closed;
    assert.match(asking.text(), /\}HTTP\/1\.1 503 /);
    assert.match(asking.text(), /connection: close/i);
    slow.socket.write(body.slice(5));
    await slow.closed;
    assert.match(slow.text(), /\}HTTP\/1\.1 201 /);
    assert.match(slow.text(), /connection: close/i);
    assert.equal(await running.exit, 0);
    const again = await place.start();
    const issues = await callAll(again.url, `/projects/${project}/issues`);
    assert.deepEqual(
      issues.map((issue) => issue.title),
      ['half sent'],
    );
    again.signal('SIGTERM');
    assert.equal(await again.exit, 0);
  });

  it('keeps every answered write under load', async () => {
    const running = await place.start();
    const project = await makeProject(running.url, 'load');
    const titles: string[] = [];
    const odd: string[] = [];
    const write = async (number: number): Promise<void> => {
      for (let count = 0; ; count += 1) {
        const title = `w${number} n${count}`;
        const reply = await call(running.url, `POST /projects/${project}/issues`, { title }).catch(
          () => null,
        );
        if (reply === null) return;
        if (reply.status === 201) titles.push(title);
        else odd.push(`${reply.status} ${JSON.stringify(reply.body)}`);
      }
    };
    const load = Array.from({ length: 12 }, (_one, number) => write(number));
    await until('50 issues exist', () => titles.length > 50);
    running.signal('SIGTERM');
    assert.equal(await running.exit, 0);
    await Promise.all(load);
    assert.deepEqual(odd, []);
    const again = await place.start();
    const found = new Set(
      (await callAll(again.url, `/projects/${project}/issues`)).map(({ title }) => title as string),
    );
    assert.deepEqual(
      titles.filter((title) => !found.has(title)),
      [],
    );
    assert.deepEqual(await findFaults(place, engine), []);
  });
});

describe('services that start together', { skip: engine !== 'postgres' }, () => {
  let together: Place;
  before(() => void (together = newPlace()));
  after(async () => await together.remove());

  it('all start on one PostgreSQL: one creates the schema and the administrator', async () => {
    const running = await startTogether(together, 3);
    const project = await makeProject(running[0]!.url, 'shared');
    const titles = running.flatMap(({ url }) =>
      Array.from({ length: 10 }, (_one, n) => [url, `${url} ${n}`] as const),
    );
    const made = await Promise.all(
      titles.map(([url, title]) => call(url, `POST /projects/${project}/issues`, { title })),
    );
    assert.deepEqual(new Set(made.map(({ status }) => status)), new Set([201]));
    const iids = made.map(({ body }) => Number(body.iid)).toSorted((a, b) => a - b);
    assert.deepEqual(
      iids,
      Array.from({ length: 30 }, (_one, n) => n + 1),
    );
    const [{ roots } = { roots: 0 }] = await together.query(
      "select count(*) as roots from users where username = 'root'",
    );
    assert.equal(Number(roots), 1);
    const applied = await together.query('select name from migrations');
    assert.equal(new Set(applied.map(({ name }) => name)).size, applied.length);
    assert.deepEqual(await findFaults(together, engine), []);
  });
});
