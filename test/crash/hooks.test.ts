/**
 * Deliveries of hooks survive kill -9 between commit and delivery, also of one of two services that share them: none is
 * lost, and order is kept.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';
import { times } from '../support/run/sample.ts';
import { type HookReceiver, startHookReceiver } from '../support/servers/hook_receiver.ts';
import { untilEmpty } from './git_operations.ts';
import { type Place, type Running, call, engine, newPlace, startTogether } from './process.ts';

let place: Place;
let receiver: HookReceiver;
beforeEach(async () => {
  place = newPlace();
  receiver = await startHookReceiver();
});
afterEach(async () => {
  await receiver.close();
  await place.remove();
});

const ok = async (url: string, line: string, json?: object) => {
  const { status, body } = await call(url, line, json);
  assert.ok(status < 300, `${line}: ${status} ${JSON.stringify(body)}`);
  return body;
};

const kills = times(20, 3);
const issues = 3;

/** Titles that reached the receiver for each issue, without repetitions of the same delivery. */
const ledger = (): Map<number, string[]> => {
  const seen = new Set<string>();
  const titles = new Map<number, string[]>();
  for (const { headers, body } of receiver.received) {
    const id = headers['webhook-id'] ?? '';
    if (seen.has(id)) continue;
    seen.add(id);
    const { iid, title } = body.object_attributes;
    titles.getOrInsertComputed(iid, () => []).push(title);
  }
  return titles;
};

/** Ids of the attempts of each change: one, however often it was sent. */
const countIds = (): number[] => {
  const ids = new Map<string, Set<string>>();
  for (const { headers, body } of receiver.received) {
    const { iid, title } = body.object_attributes;
    const key = `${iid} ${title}`;
    ids.set(key, (ids.get(key) ?? new Set()).add(headers['webhook-id'] ?? ''));
  }
  return [...ids.values()].map(({ size }) => size);
};

/** Makes a project with issues, of which a hook reports the changes. @returns its path in the API */
const addHookedProject = async (url: string): Promise<string> => {
  await ok(url, 'PUT /application/settings', { allow_local_requests_from_hooks_and_services: true });
  const { id } = await ok(url, 'POST /projects', { name: 'hooked' });
  const project = `/projects/${id}`;
  await ok(url, `POST ${project}/hooks`, { url: receiver.url, push_events: false, issues_events: true });
  for (let one = 1; one <= issues; one += 1) await ok(url, `POST ${project}/issues`, { title: '0' });
  return project;
};

/** Gives every issue a title at the same time. All are committed afterwards, and perhaps not delivered. */
const editAll = async (urlOf: (at: number) => string, project: string, title: string): Promise<void> => {
  const edits = Array.from({ length: issues }, async (_one, at) =>
    ok(urlOf(at), `PUT ${project}/issues/${at + 1}`, { title }),
  );
  await Promise.all(edits);
};

/** Each issue's titles arrived in order, and each change with one id. */
const checkDeliveries = async (titles: readonly string[]): Promise<void> => {
  await untilEmpty(place, 'hook_deliveries', 'select id, attempts from hook_deliveries');
  const received = ledger();
  for (let iid = 1; iid <= issues; iid += 1) assert.deepEqual(received.get(iid), titles, `issue ${iid}`);
  assert.ok(
    countIds().every((count) => count === 1),
    'each attempt has the id of the first',
  );
  assert.deepEqual(await place.query('select id from hook_events'), []);
};

it(`delivers every change in order through ${kills} kills`, async () => {
  let service = await place.start();
  const project = await addHookedProject(service.url);
  for (let kill = 1; kill <= kills; kill += 1) {
    await editAll(() => service.url, project, String(kill));
    service.signal('SIGKILL');
    await service.exit;
    service = await place.start();
  }
  await checkDeliveries(Array.from({ length: kills + 1 }, (_one, at) => String(at)));
});

const skip = engine === 'sqlite' ? 'a file serves one process' : false;

it(
  `delivers every change in order while one of two services is killed ${kills} times`,
  { skip },
  async () => {
    const services = await startTogether(place, 2);
    const serviceAt = (at: number): Running => {
      const service = services[at % services.length];
      assert.ok(service !== undefined);
      return service;
    };
    const project = await addHookedProject(serviceAt(0).url);
    const titles = ['0'];
    for (let kill = 1; kill <= kills; kill += 1) {
      titles.push(`${kill} before`, `${kill} after`);
      await editAll((at) => serviceAt(at).url, project, `${kill} before`);
      const killed = kill % services.length;
      serviceAt(killed).signal('SIGKILL');
      await serviceAt(killed).exit;
      // What the killed service was delivering stays before what the other one is told now.
      await editAll(() => serviceAt(killed + 1).url, project, `${kill} after`);
      services[killed] = await place.start({ env: { GANTRY_DATA: `${place.data}-${killed}` } });
    }
    await checkDeliveries(titles);
  },
);
