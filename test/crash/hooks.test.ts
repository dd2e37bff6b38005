/** Deliveries of hooks survive kill -9 between commit and delivery: none is lost, and order is kept. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { times } from '../support/run/sample.ts';
import { type HookReceiver, startHookReceiver } from '../support/servers/hook_receiver.ts';
import { untilEmpty } from './git_operations.ts';
import { type Place, call, newPlace } from './process.ts';

let place: Place;
let receiver: HookReceiver;
before(async () => {
  place = newPlace();
  receiver = await startHookReceiver();
});
after(async () => {
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

it(`delivers every change in order through ${kills} kills`, async () => {
  let service = await place.start();
  await ok(service.url, 'PUT /application/settings', { allow_local_requests_from_hooks_and_services: true });
  const { id } = await ok(service.url, 'POST /projects', { name: 'hooked' });
  const project = `/projects/${id}`;
  await ok(service.url, `POST ${project}/hooks`, {
    url: receiver.url,
    push_events: false,
    issues_events: true,
  });
  for (let one = 1; one <= issues; one += 1) await ok(service.url, `POST ${project}/issues`, { title: '0' });
  for (let kill = 1; kill <= kills; kill += 1) {
    const title = String(kill);
    const edits = Array.from({ length: issues }, async (_one, at) =>
      ok(service.url, `PUT ${project}/issues/${at + 1}`, { title }),
    );
    await Promise.all(edits); // committed, and perhaps not delivered
    service.signal('SIGKILL');
    await service.exit;
    service = await place.start();
  }
  await untilEmpty(place, 'hook_deliveries', 'select id, attempts from hook_deliveries');
  const expected = Array.from({ length: kills + 1 }, (_one, at) => String(at));
  const titles = ledger();
  for (let iid = 1; iid <= issues; iid += 1) assert.deepEqual(titles.get(iid), expected, `issue ${iid}`);
  assert.ok(
    countIds().every((count) => count === 1),
    'each attempt has the id of the first',
  );
  assert.deepEqual(await place.query('select id from hook_events'), []);
});
