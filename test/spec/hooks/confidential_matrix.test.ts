/** Which hooks receive changes of confidential issues: those with the flags for them, and no others. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type EventFlag, eventFlagNames } from '../../../src/outgoing/hooks/event_flags.ts';
import { type HookReceiver, startHookReceiver } from '../../support/servers/hook_receiver.ts';
import { seedGroup, seedProject } from '../../support/seed.ts';
import { type TestService, startTestService } from '../../support/service.ts';

let gantry: TestService;
let receiver: HookReceiver;
let project: string;

const send = async (line: string, json?: object) => {
  const { status, body, text } = await gantry.api(line, json === undefined ? {} : { json });
  assert.ok(status < 300, `${line}: ${status} ${text}`);
  return body;
};

const sets: (readonly EventFlag[])[] = [
  [],
  ...eventFlagNames.map((name) => [name]),
  ['emoji_events', 'confidential_issues_events'],
  ['emoji_events', 'confidential_note_events'],
  ['issues_events', 'note_events', 'emoji_events'],
];

const toPath = (flags: readonly EventFlag[]): string => flags.join('+') || 'none';

before(async () => {
  [gantry, receiver] = await Promise.all([startTestService(), startHookReceiver()]);
  await send('PUT /application/settings', { allow_local_requests_from_hooks_and_services: true });
  const group = await seedGroup(gantry);
  project = `/projects/${(await seedProject(gantry, { namespace: group.id })).id}`;
  for (const [owner, path] of [
    ['project', project],
    ['group', `/groups/${group.id}`],
    ['system', ''],
  ] as const)
    for (const flags of sets) {
      const all = Object.fromEntries(eventFlagNames.map((name) => [name, flags.includes(name)]));
      await send(`POST ${path}/hooks`, { url: `${receiver.url}/${owner}/${toPath(flags)}`, ...all });
    }
});
after(async () => {
  await gantry.close();
  await receiver.close();
});
beforeEach(async () => {
  await gantry.service.worker.drain();
  receiver.clear();
});

const issuesAsked = ['confidential_issues_events', 'emoji_events+confidential_issues_events'];
const notesAsked = ['confidential_note_events', 'emoji_events+confidential_note_events'];

/** Hooks that received something about a confidential issue, without the owner: it makes no difference. */
const receivers = (): string[] => {
  const paths = [...new Set(receiver.received.map(({ path }) => path))].toSorted((a, b) => (a < b ? -1 : 1));
  const [ofGroup, ofProject] = ['group', 'project'].map((owner) =>
    paths.filter((path) => path.startsWith(`/${owner}/`)).map((path) => path.slice(owner.length + 2)),
  );
  assert.deepEqual(ofGroup, ofProject);
  assert.equal(paths.filter((path) => path.startsWith('/system/')).length, 0, 'system hooks receive none');
  return ofProject ?? [];
};

const makeIssue = async (json: object = {}): Promise<string> => {
  const { iid } = await send(`POST ${project}/issues`, { title: 'Secret', confidential: true, ...json });
  return `${project}/issues/${iid}`;
};

const receiversAfter = async (path: string, act: (path: string) => Promise<unknown>): Promise<string[]> => {
  await gantry.service.worker.drain();
  receiver.clear();
  await act(path);
  await gantry.service.worker.drain();
  return receivers();
};

const changes: [name: string, expected: string[], act: (path: string) => Promise<unknown>][] = [
  ['an edit', issuesAsked, async (path) => await send(`PUT ${path}`, { title: 'Secret 2', labels: 'x' })],
  ['closing', issuesAsked, async (path) => await send(`PUT ${path}`, { state_event: 'close' })],
  ['spent time', issuesAsked, async (path) => await send(`POST ${path}/add_spent_time`, { duration: '1h' })],
  ['a comment', notesAsked, async (path) => await send(`POST ${path}/notes`, { body: 'Secret' })],
  ['a thread', notesAsked, async (path) => await send(`POST ${path}/discussions`, { body: 'Secret' })],
  [
    'emoji',
    ['emoji_events+confidential_issues_events'],
    async (path) => await send(`POST ${path}/award_emoji`, { name: 'rocket' }),
  ],
];

test('a new confidential issue reaches hooks that ask for confidential issues', async () => {
  await makeIssue();
  await gantry.service.worker.drain();
  assert.deepEqual(receivers(), issuesAsked);
});

for (const [name, expected, act] of changes)
  test(`${name} of a confidential issue reaches hooks that ask for it`, async () => {
    assert.deepEqual(await receiversAfter(await makeIssue(), act), expected);
  });

test('emoji on a confidential comment reach hooks that ask for both', async () => {
  const path = await makeIssue();
  const { id } = await send(`POST ${path}/notes`, { body: 'Secret' });
  const seen = await receiversAfter(
    `${path}/notes/${id}`,
    async (of) => await send(`POST ${of}/award_emoji`, { name: 'rocket' }),
  );
  assert.deepEqual(seen, ['emoji_events+confidential_note_events']);
});

test('an issue that becomes confidential is shown to hooks of confidential issues only', async () => {
  const path = await makeIssue({ confidential: false });
  const seen = await receiversAfter(
    path,
    async (of) => await send(`PUT ${of}`, { confidential: true, title: 'Secret 3' }),
  );
  assert.deepEqual(seen, issuesAsked);
});

test('a mention of a public issue in a confidential one tells its hooks nothing', async () => {
  const open = await send(`POST ${project}/issues`, { title: 'Open' });
  const seen = await receiversAfter(
    project,
    async () => await makeIssue({ description: `Like #${open.iid}` }),
  );
  assert.deepEqual(seen, issuesAsked);
});
