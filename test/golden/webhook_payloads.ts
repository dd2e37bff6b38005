/** `docs/webhook_payloads.json`: one payload of each kind that webhooks send, as a receiver got it. */
import assert from 'node:assert/strict';
import { eventFlagNames } from '../../src/outgoing/hooks/event_flags.ts';
import { type Received, startHookReceiver } from '../support/servers/hook_receiver.ts';
import { type TestService, startTestService } from '../support/service.ts';
import {
  type Step,
  issueSteps,
  jobSteps,
  makePlaces,
  makeSend,
  peopleSteps,
  pushSteps,
  releaseSteps,
  requestSteps,
  systemSteps,
} from './webhook_scenario.ts';

const start = Date.UTC(2026, 0, 2, 3, 4, 5);

/** Replaces what differs between runs and engines: hosts, ids, times, commits. Equal commits stay equal. */
const makeNormalizer = (url: string) => {
  const oids = new Map<string, string>();
  const toOid = (oid: string): string => {
    if (/^0+$/.test(oid)) return oid;
    const known = oids.get(oid) ?? String(oids.size + 1).padStart(40, 'c');
    oids.set(oid, known);
    return known;
  };
  const text = (value: string): string =>
    value
      .replaceAll(url, 'https://gantry.example.com')
      .replaceAll(new URL(url).host, 'gantry.example.com')
      .replaceAll(/\b[0-9a-f]{40}\b/g, toOid)
      .replaceAll(/\b\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d(?:\.\d+)?/g, '2026-01-02$103:04:05')
      .replaceAll(/\/(jobs|pipelines|projects|environments|deployments)\/\d+/g, '/$1/1')
      .replaceAll(/#note_\d+/g, '#note_1');
  return (payload: unknown): unknown =>
    JSON.parse(JSON.stringify(payload), (name: string, value: unknown) => {
      if (typeof value === 'string') return name === 'short_sha' ? 'ccccccc' : text(value);
      const isId = /^(?:id|iid_of|.*_ids?)$/.test(name) && name !== 'state_id';
      if (isId && typeof value === 'number') return 1;
      return isId && Array.isArray(value) ? value.map(() => 1) : value;
    }) as unknown;
};

const addHooks = async (
  send: ReturnType<typeof makeSend>,
  url: string,
  ids: { project: number; group: number },
) => {
  const flags = Object.fromEntries(eventFlagNames.map((name) => [name, true]));
  await send(`POST /projects/${ids.project}/hooks`, { url: `${url}/project`, ...flags });
  await send(`POST /groups/${ids.group}/hooks`, { url: `${url}/group`, ...flags });
  await send('POST /hooks', { url: `${url}/system`, ...flags });
};

export type Kept = { event: string; payload: unknown };

const runStep = async (
  gantry: TestService,
  received: Received[],
  { picks, run }: Step,
): Promise<[string, Kept][]> => {
  received.length = 0;
  await run();
  await gantry.service.worker.drain();
  return picks.map(({ name, at, is }) => {
    const found = received.filter(({ path, body }) => path === `/${at}` && is(body));
    const seen = received.map(({ path, text }) => `${path} ${text.slice(0, 90)}`);
    assert.equal(found.length, 1, `${name}: ${found.length} deliveries of ${seen.join('\n')}`);
    return [name, { event: found[0]?.headers['x-gitlab-event'] ?? '', payload: found[0]?.body as unknown }];
  });
};

/** Collects the payloads by name. */
const collectPayloads = async (): Promise<Record<string, Kept>> => {
  const [gantry, receiver] = await Promise.all([startTestService(), startHookReceiver()]);
  try {
    gantry.setTime(start);
    const send = makeSend(gantry);
    await send('PUT /application/settings', { allow_local_requests_from_hooks_and_services: true });
    const ids = await makePlaces(send);
    await addHooks(send, receiver.url, ids);
    const makers = [pushSteps, issueSteps, requestSteps, jobSteps, releaseSteps, peopleSteps];
    const steps = [...makers.flatMap((make) => make(send, ids)), ...systemSteps(send, gantry)];
    const kept: [string, Kept][] = [];
    for (const step of steps) kept.push(...(await runStep(gantry, receiver.received, step)));
    const normalize = makeNormalizer(gantry.url);
    return normalize(Object.fromEntries(kept)) as Record<string, Kept>;
  } finally {
    await gantry.close();
    await receiver.close();
  }
};

export const webhookPayloadsText = async (): Promise<string> =>
  `${JSON.stringify(await collectPayloads(), null, 2)}\n`;
