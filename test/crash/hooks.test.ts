/** Deliveries of hooks survive kill -9 between a change or a push and its delivery: none is lost, and order is kept. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { times } from '../support/run/sample.ts';
import { type HookReceiver, type Received, startHookReceiver } from '../support/servers/hook_receiver.ts';
import { type WorkTree, newWorkTree, repositoryUrl } from '../support/repositories/git.ts';
import { untilEmpty } from './git_operations.ts';
import { type Place, call, newPlace, token } from './process.ts';

let place: Place;
let receiver: HookReceiver;
let tree: WorkTree;
before(async () => {
  place = newPlace();
  tree = await newWorkTree();
  receiver = await startHookReceiver();
});
after(async () => {
  await receiver.close();
  await place.remove();
  await tree.remove();
});

const ok = async (url: string, line: string, json?: object) => {
  const { status, body } = await call(url, line, json);
  assert.ok(status < 300, `${line}: ${status} ${JSON.stringify(body)}`);
  return body;
};

const kills = times(20, 3);
const issues = 3;

/** The record of a delivery, an issue or a branch, and what changed: its title, or the titles of the commits. */
const readChange = ({ body }: Received): { record: string; change: string } => {
  if (body.object_kind === 'issue')
    return { record: `#${body.object_attributes.iid}`, change: body.object_attributes.title };
  return { record: body.ref, change: body.commits.map(({ title }: { title: string }) => title).join() };
};

/** Changes that reached the receiver for each record, without repetitions of the same delivery. */
const ledger = (): Map<string, string[]> => {
  const seen = new Set<string>();
  const changes = new Map<string, string[]>();
  for (const received of receiver.received) {
    const id = received.headers['webhook-id'] ?? '';
    if (seen.has(id)) continue;
    seen.add(id);
    const { record, change } = readChange(received);
    changes.getOrInsertComputed(record, () => []).push(change);
  }
  return changes;
};

/** Ids of the attempts of each change: one, however often it was sent. */
const countIds = (): number[] => {
  const ids = new Map<string, Set<string>>();
  for (const received of receiver.received) {
    const { record, change } = readChange(received);
    const key = `${record} ${change}`;
    ids.set(key, (ids.get(key) ?? new Set()).add(received.headers['webhook-id'] ?? ''));
  }
  return [...ids.values()].map(({ size }) => size);
};

/** Pushes a commit with this title to `main`. */
const push = async (url: string, path: string, title: string): Promise<void> => {
  await tree.commit(title, { 'a.txt': title });
  await tree.git('push', '--quiet', repositoryUrl(url, path, token), 'main');
};

it(`delivers every change in order through ${kills} kills`, async () => {
  let service = await place.start();
  await ok(service.url, 'PUT /application/settings', { allow_local_requests_from_hooks_and_services: true });
  const { id, path_with_namespace } = await ok(service.url, 'POST /projects', { name: 'hooked' });
  const project = `/projects/${id}`;
  await ok(service.url, `POST ${project}/hooks`, {
    url: receiver.url,
    push_events: true,
    issues_events: true,
  });
  for (let one = 1; one <= issues; one += 1) await ok(service.url, `POST ${project}/issues`, { title: '0' });
  await push(service.url, path_with_namespace, '0');
  for (let kill = 1; kill <= kills; kill += 1) {
    const title = String(kill);
    const edits = Array.from({ length: issues }, async (_one, at) =>
      ok(service.url, `PUT ${project}/issues/${at + 1}`, { title }),
    );
    await Promise.all([...edits, push(service.url, path_with_namespace, title)]); // committed, and perhaps not delivered
    service.signal('SIGKILL');
    await service.exit;
    service = await place.start();
  }
  await untilEmpty(place, 'hook_deliveries', 'select id, attempts from hook_deliveries');
  const expected = Array.from({ length: kills + 1 }, (_one, at) => String(at));
  const records = ['refs/heads/main', ...Array.from({ length: issues }, (_one, at) => `#${at + 1}`)];
  const changes = ledger();
  for (const record of records) assert.deepEqual(changes.get(record), expected, record);
  assert.ok(
    countIds().every((count) => count === 1),
    'each attempt has the id of the first',
  );
  assert.deepEqual(await place.query('select id from hook_events'), []);
});
