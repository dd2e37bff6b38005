/**
 * 5,000 random requests: no response is 5xx, every response has its declared shape, background work completes, and
 * the rows are consistent in the end.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, request } from 'node:http';
import fc from 'fast-check';
import { CompiledQuery } from 'kysely';
import { Compile } from 'typebox/compile';
import { statusOfEndpoint } from '../../src/platform/http/endpoint.ts';
import { plainSchema } from '../../src/platform/http/openapi/schemas.ts';
import { endpoints } from '../../src/app/routes.ts';
import { findFaults } from '../crash/invariants.ts';
import { seed, times } from '../support/run/sample.ts';
import { type TestService, engine, startTestService } from '../support/service.ts';
import { type DrawnRequest, type Sendable, anyRequest, sendable, validRequests } from './requests.ts';
import { type World, seedWorld, settleWithoutHooks } from './world.ts';

const count = times(5_000, 1_500);
const atOnce = 16;

let gantry: TestService;
let world: World;

before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'warn', GANTRY_SLOW_STATEMENT: '0' });
  world = await seedWorld(gantry);
});
after(async () => await gantry.close());

const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
after(() => agent.destroy());

type Answer = { status: number; type: string | undefined; text: string };

const send = async ({ method, url, body, type }: Sendable, token: string | null): Promise<Answer> =>
  await new Promise((resolve, reject) => {
    const headers = {
      ...(token !== null && { 'private-token': token }),
      ...(type !== undefined && { 'content-type': type }),
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    };
    // As options: a URL would be normalized (`..`) before it is sent.
    const { hostname, port } = new URL(gantry.url);
    const sent = request({ hostname, port, path: url, method, headers, agent }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8');
        resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'], text });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });

/** Checks the declared shape: no undeclared keys. */
const closed = (schema: unknown): unknown => {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(closed);
  const copy = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, closed(part)]));
  return copy['type'] === 'object' && copy['properties'] !== undefined
    ? { ...copy, additionalProperties: false }
    : copy;
};

const checkers = endpoints.map(({ reply }) =>
  reply === null ? null : Compile(closed(plainSchema(reply as never, () => undefined)) as never),
);

const isErrorBody = (body: unknown): boolean => {
  const { message, error } = body as { message?: unknown; error?: unknown };
  return typeof message === 'string' || typeof message === 'object' || typeof error === 'string';
};

const checkAnswer = (drawn: DrawnRequest, { status, type, text }: Answer): void => {
  const endpoint = endpoints[drawn.endpoint];
  assert.ok(endpoint);
  if (status === 204 || status === 304 || (endpoint.reply === null && status < 300 && text === '')) {
    assert.equal(text, '');
    assert.equal(type, undefined);
    return;
  }
  if (endpoint.content !== undefined && status < 300) {
    assert.notEqual(type, 'application/json');
    return;
  }
  assert.equal(type, 'application/json');
  const body: unknown = JSON.parse(text);
  if (status >= 400) {
    assert.ok(isErrorBody(body), text);
    return;
  }
  const check = checkers[drawn.endpoint];
  const items = endpoint.list === true ? (body as unknown[]) : [body];
  assert.ok(endpoint.list !== true || Array.isArray(body));
  assert.ok(status === statusOfEndpoint(endpoint) || status === 202, `status ${status}`);
  // A text of nothing but commands makes no comment, a cherry-pick or revert that is only tried no commit to tell.
  if (/^\{"(?:commands_changes":.*"summary":\[.*\]\}|dry_run":"success"\})$/.test(text)) return;
  if (drawn.rest['view'] === 'simple') return; // a few of the declared fields
  for (const item of items) {
    if (check?.Check(item) === false)
      assert.fail(`off the declared shape: ${JSON.stringify(check.Errors(item))}`);
  }
};

const lineOf = ({ endpoint }: DrawnRequest): string => {
  const { method, path } = endpoints[endpoint] ?? { method: 'GET', path: '' };
  return `${method} ${path}`;
};

/**
 * Endpoints that remove what every later request needs: the callers, what they see and their rights. They come last.
 */
const destructive = [
  /(?:DELETE|PUT|POST) \/(?:users\/:|personal_access_tokens|projects\/:id$|groups\/:id$|application\/settings)/,
  /(?:archive|transfer)$/,
];

const isDestructive = (line: string): boolean => destructive.some((pattern) => pattern.test(line));

/** First endpoints that add and change, then those that remove, with the most destructive last. */
const inOrder = (all: DrawnRequest[]): { usual: DrawnRequest[]; last: DrawnRequest[] } => {
  const phase = (one: DrawnRequest, n: number): number => {
    const line = lineOf(one);
    const isLast = one.wild || line.startsWith('DELETE') || line.includes('/personal');
    if (isDestructive(line)) return isLast ? 3 : 2;
    return /^DELETE|(?:erase|reset_authentication_token)$/.test(line) || n % 3 === 0 ? 1 : 0;
  };
  const phases = Object.groupBy(all, phase);
  return { usual: [0, 1, 2].flatMap((n) => phases[n] ?? []), last: phases[3] ?? [] };
};

/** The failure and the seed that reproduces the run. */
const checked = (drawn: DrawnRequest, wire: Sendable, answer: Answer, seed: number): void => {
  try {
    // Runners ask for it to be told that it is not there.
    const isAbsent = answer.status === 501 && lineOf(drawn) === 'GET /runners/router/discovery';
    assert.ok(answer.status < 500 || isAbsent, `answered ${answer.status}: ${gantry.logged().at(-1)}`);
    checkAnswer(drawn, answer);
  } catch (error) {
    const shown = `${wire.method} ${wire.url.slice(0, 400)} ${(wire.body ?? '').slice(0, 400)} as ${drawn.as}`;
    throw new Error(`seed ${seed}: ${shown}\n${String(error)}\n${answer.text.slice(0, 400)}`, {
      cause: error,
    });
  }
};

/** Lines of endpoints, with whether one of their responses was a success. */
type Reached = Map<string, boolean>;

const storm = async (drawn: DrawnRequest[], seed: number): Promise<Reached> => {
  const waiting = drawn.toReversed();
  const reached: Reached = new Map();
  const run = async (): Promise<void> => {
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
      const endpoint = endpoints[one.endpoint];
      assert.ok(endpoint);
      const wire = sendable(endpoint, one);
      const answer = await send(wire, world.tokens[one.as]);
      reached.set(lineOf(one), reached.get(lineOf(one)) === true || answer.status < 400);
      checked(one, wire, answer, seed);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, run));
  // Failed background work appears in the log, and nowhere else after its retry.
  await settleWithoutHooks(gantry);
  assert.deepEqual(gantry.logged(), [], `seed ${seed}`);
  return reached;
};

const query = async (text: string) =>
  (await gantry.service.platform.store.db.executeQuery(CompiledQuery.raw(text))).rows as never;

test(`answers ${count} random requests as declared`, { timeout: 600_000 }, async () => {
  const all = fc.sample(anyRequest(endpoints as never, world.places), { numRuns: count, seed });
  const { usual, last } = inOrder(all);
  const reached = await storm(usual, seed);
  // The storm sends few requests to each endpoint: those that refused all get more.
  const again = endpoints.flatMap((endpoint, index) => {
    const line = `${endpoint.method} ${endpoint.path}`;
    if (reached.get(line) !== false || isDestructive(line)) return [];
    return validRequests(endpoint, index, world.places, { numRuns: 12, seed });
  });
  for (const [line, isReached] of await storm(again, seed + 1)) reached.set(line, isReached);
  // Before projects are deleted: what the log of changes tells of them stays.
  assert.deepEqual(await findFaults({ query }, engine), [], `seed ${seed}`);
  // A run of refusals alone would prove nothing. Few requests reach fewer endpoints.
  const refused = [...reached]
    .filter(([line, isReached]) => !isReached && !isDestructive(line))
    .map(([line]) => line);
  assert.ok(
    refused.length < (endpoints.length * times(12, 40)) / 100,
    `only refused: ${refused.toSorted().join(', ')}`,
  );
  await storm(last, seed);
});
