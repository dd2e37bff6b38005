/**
 * Deliveries of hooks survive kill -9 between a change or a push and its delivery, also of one of two services that share
 * them: none is lost, and order is kept.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';
import { times } from '../support/run/sample.ts';
import { type HookReceiver, type Received, startHookReceiver } from '../support/servers/hook_receiver.ts';
import { type WorkTree, newWorkTree, repositoryUrl } from '../support/repositories/git.ts';
import { untilEmpty } from './git_operations.ts';
import { type Place, type Running, call, engine, newPlace, startTogether, token } from './process.ts';

let place: Place;
let receiver: HookReceiver;
let tree: WorkTree;
beforeEach(async () => {
  place = newPlace();
  tree = await newWorkTree();
  receiver = await startHookReceiver();
});
afterEach(async () => {
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

/** Makes a project with issues, of which a hook reports the changes. @returns its path in the API, and its full path */
const addHookedProject = async (url: string): Promise<{ project: string; path: string }> => {
  await ok(url, 'PUT /application/settings', { allow_local_requests_from_hooks_and_services: true });
  const { id, path_with_namespace } = await ok(url, 'POST /projects', { name: 'hooked' });
  const project = `/projects/${id}`;
  await ok(url, `POST ${project}/hooks`, { url: receiver.url, push_events: true, issues_events: true });
  for (let one = 1; one <= issues; one += 1) await ok(url, `POST ${project}/issues`, { title: '0' });
  return { project, path: path_with_namespace };
};

/** Gives every issue a title at the same time. All are committed afterwards, and perhaps not delivered. */
const editAll = async (urlOf: (at: number) => string, project: string, title: string): Promise<void> => {
  const edits = Array.from({ length: issues }, async (_one, at) =>
    ok(urlOf(at), `PUT ${project}/issues/${at + 1}`, { title }),
  );
  await Promise.all(edits);
};

const issueRecords = Array.from({ length: issues }, (_one, at) => `#${at + 1}`);

/** The changes of each record arrived in order, and each change with one id. */
const checkDeliveries = async (records: readonly string[], titles: readonly string[]): Promise<void> => {
  await untilEmpty(place, 'hook_deliveries', 'select id, attempts from hook_deliveries');
  const received = ledger();
  for (const record of records) assert.deepEqual(received.get(record), titles, record);
  assert.ok(
    countIds().every((count) => count === 1),
    'each attempt has the id of the first',
  );
  assert.deepEqual(await place.query('select id from hook_events'), []);
};

it(`delivers every change in order through ${kills} kills`, async () => {
  let service = await place.start();
  const { project, path } = await addHookedProject(service.url);
  await push(service.url, path, '0');
  for (let kill = 1; kill <= kills; kill += 1) {
    const title = String(kill);
    const { url } = service;
    await Promise.all([editAll(() => url, project, title), push(url, path, title)]);
    service.signal('SIGKILL');
    await service.exit;
    service = await place.start();
  }
  const titles = Array.from({ length: kills + 1 }, (_one, at) => String(at));
  await checkDeliveries(['refs/heads/main', ...issueRecords], titles);
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
    const { project } = await addHookedProject(serviceAt(0).url);
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
    await checkDeliveries(issueRecords, titles);
  },
);
