/** Random visits: no page answers 5xx for any visitor and input, and the log contains no errors. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { pagePaths } from '../../src/doors/web/routes.ts';
import { seed, times } from '../support/run/sample.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { type Visitor, openVisitor } from '../support/visitor.ts';
import { type DrawnRequest, anyRequest, sendable } from './requests.ts';
import { seedWorld, settleWithoutHooks } from './world.ts';

const count = times(2_500, 750);
const password = 'correct horse battery';

let gantry: TestService;
let visitors: Record<DrawnRequest['as'], Visitor>;

const signedIn = async (username: string): Promise<Visitor> => {
  const { body } = await gantry.api(`GET /users?username=${username}`);
  const { status, text } = await gantry.api(`PUT /users/${body[0].id}`, { json: { password } });
  assert.equal(status, 200, text);
  const visitor = openVisitor(gantry);
  await visitor.signIn(username, password);
  return visitor;
};

before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'warn', GANTRY_SLOW_STATEMENT: '0' });
  await seedWorld(gantry);
  visitors = {
    root: await signedIn('root'),
    member: await signedIn('member'),
    stranger: await signedIn('stranger'),
    nobody: openVisitor(gantry),
  };
});
after(async () => await gantry.close());

const loaded = await Promise.all(pagePaths.map(async ({ load }) => await load()));
/** Without those that end or change the visitor's session or rights. */
const pages = [...new Set(loaded.flat())].filter(
  ({ path }) =>
    !/^\/users|^\/$|profile\/(?:password|sessions|two_factor)|application_settings|^\/admin\/users\/:id\/\w/.test(
      path,
    ),
);

const visit = async (one: DrawnRequest): Promise<{ line: string; status: number; text: string }> => {
  const page = pages[one.endpoint];
  assert.ok(page);
  const visitor = visitors[one.as];
  // Not in the API; what is no query is a form.
  const { method, url, body } = sendable(page as never, {
    ...one,
    how: page.method === 'GET' ? 'query' : 'form',
  });
  const path = url.replace('/api/v4', '');
  const form = Object.fromEntries(new URLSearchParams(body ?? ''));
  const { status, text } = method === 'GET' ? await visitor.get(path) : await visitor.post(path, form);
  return { line: `${method} ${path.slice(0, 400)} ${(body ?? '').slice(0, 400)} as ${one.as}`, status, text };
};

test(`answers ${count} random visits`, { timeout: 600_000 }, async () => {
  const all = fc.sample(anyRequest(pages as never, []), { numRuns: count, seed });
  const reached = new Set<number>();
  const run = async (own: DrawnRequest[]): Promise<void> => {
    for (const one of own) {
      const { line, status, text } = await visit(one);
      assert.ok(status < 500, `seed ${seed}: ${line}: ${status} ${text.slice(0, 400)}`);
      if (status < 400) reached.add(one.endpoint);
    }
  };
  // Each with the token of the last page, one after another for a visitor; visitors run concurrently.
  const shares = Object.groupBy(all, ({ as }) => as);
  await Promise.all(Object.values(shares).map(run));
  await settleWithoutHooks(gantry);
  assert.deepEqual(gantry.logged(), [], `seed ${seed}`);
  const missed = pages.filter((_page, at) => !reached.has(at)).map(({ method, path }) => `${method} ${path}`);
  assert.ok(
    missed.length < (pages.length * times(50, 80)) / 100,
    `only refused ${missed.length} of ${pages.length}: ${missed.join(', ')}`,
  );
});
