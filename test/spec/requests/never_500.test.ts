/** Any input gets a response of the contract, in one of its shapes, and never a 500. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import fc from 'fast-check';
import { seed, times } from '../../support/run/sample.ts';
import { type Reply, type World, startWorld } from '../world.ts';

let world: World;
before(async () => {
  world = await startWorld();
  const project = await world.project();
  for (let n = 0; n < 5; n += 1) await world.issue(project.id, { labels: 'a', assignee_ids: [1] });
});
after(async () => await world.close());

const routes = [
  'GET /issues',
  'GET /groups/:id/issues',
  'GET /projects/:id/issues',
  'POST /projects/:id/issues',
  'GET /projects/:id/issues/:iid',
  'PUT /projects/:id/issues/:iid',
  'DELETE /projects/:id/issues/:iid',
  'POST /projects/:id/issues/:iid/move',
  'POST /projects/:id/issues/:iid/subscribe',
  'POST /projects/:id/issues/:iid/unsubscribe',
  'POST /projects/:id/issues/:iid/todo',
  'POST /projects/:id/issues/:iid/time_estimate',
  'POST /projects/:id/issues/:iid/reset_time_estimate',
  'POST /projects/:id/issues/:iid/add_spent_time',
  'POST /projects/:id/issues/:iid/reset_spent_time',
  'GET /projects/:id/issues/:iid/time_stats',
  'GET /projects/:id/issues/:iid/closed_by',
  'GET /projects/:id/issues/:iid/user_agent_detail',
];

const names = `
  state labels milestone scope author_id assignee_id my_reaction_emoji iids iids[] order_by sort search
  created_after created_before page per_page title description confidential assignee_ids assignee_ids[] milestone_id
  labels[] created_at due_date state_event updated_at add_labels remove_labels duration to_project_id sudo
  private_token merge_request_to_resolve_discussions_of discussion_to_resolve author_username assignee_username`
  .trim()
  .split(/\s+/);

const words = `
  0 1 -1 1.5 1e3 0x10 9007199254740993 99999999999999999999 NaN Infinity a None Any #upcoming #started opened close
  all true null root api 2026-01-01 2026-02-30 2026-01-01T00:00:00Z -1h 1h thumbsup % _ \\ ' " "" * 😀 \`\`\` a,b ,
  { [] __proto__ \${1}`
  .trim()
  .split(/\s+/);

const texts = words.concat(['', ' ', 'No Label', '\0', '\ud800', '\r\n', '/label ~a', 'x'.repeat(256)]);

const text = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...texts) },
  { weight: 1, arbitrary: fc.string() },
);
const scalar = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 3, arbitrary: fc.constantFrom(null, true, false, 0, 1, -1, 1.5, 1e21, 2 ** 53, -(2 ** 60)) },
);
const value = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 2, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(text, scalar, { maxKeys: 2 }) },
);
const params = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 5 });
const id = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('1', '2') },
  { weight: 1, arbitrary: text.map((one) => encodeURIComponent(one.toWellFormed())) },
);

const call = fc.record({
  route: fc.constantFrom(...routes),
  project: id,
  iid: id,
  query: params,
  body: fc.option(params),
  type: fc.constantFrom('application/json', 'application/x-www-form-urlencoded', 'text/plain', 'x'),
});

const flat = (pairs: [string, unknown][]): string =>
  pairs
    .map(([name, one]) => {
      const written = typeof one === 'string' ? one : JSON.stringify(one);
      return `${encodeURIComponent(name)}=${encodeURIComponent(written.toWellFormed())}`;
    })
    .join('&');

const isContract = ({ status, body, text: whole, headers }: Reply): void => {
  assert.ok(
    [200, 201, 204, 304, 400, 401, 403, 404, 405, 406, 412, 414].includes(status),
    `${status} ${whole}`,
  );
  if (status === 204 || status === 304) {
    assert.equal(whole, '');
    return;
  }
  assert.equal(headers.get('content-type'), 'application/json');
  if (status >= 400) {
    assert.ok(['message', 'error'].some((name) => name in body));
    assert.ok(
      !/sqlite|postgres|node:|\bat .*:\d+/i.test(whole.replaceAll(/"description":"[^"]*"/g, '')),
      whole,
    );
  }
};

it('holds for any call', { timeout: 50_000 }, async () => {
  const runs = fc.asyncProperty(call, async ({ route, project, iid, query, body, type }) => {
    const line = `${route
      .replace(' ', ' /api/v4')
      .replace(':id', project || '1')
      .replace(':iid', iid || '1')}?${flat(query)}`;
    const carried = body !== null && !line.startsWith('GET');
    const written =
      type === 'application/json' ? JSON.stringify(Object.fromEntries(body ?? [])) : flat(body ?? []);
    const sent = carried ? { body: written, headers: { 'content-type': type } } : {};
    isContract(await world.raw(line, sent));
  });
  await fc.assert(runs, { numRuns: times(700, 250), seed, endOnFailure: true });
});
