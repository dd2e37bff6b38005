/**
 * No endpoint reads all records of a kind: the steps of SQLite's machine are counted for each statement of every GET
 * endpoint, and with each filter of each list, over a project with thousands of each. A plan with a good index may still read all rows of a project, for
 * each row of the page: its text does not show it, its steps do. No statement is planned again for its values either.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { endpoints } from '../../src/app/routes.ts';
import { type TestService, engine, rootToken, startTestService } from '../support/service.ts';
import { type Skewed, makeSkewed } from './skewed.ts';
import { fillJobs } from './skewed_jobs.ts';
import { fillRequests } from './skewed_requests.ts';
import { fillRest } from './skewed_rest.ts';
import { knownSteps } from './known_steps.ts';
import { type StepCounter, type Steps, countSteps } from './step_counter.ts';

/** A page of five takes hundreds of steps. An exact total of 3,000 records takes up to ten for each. */
const mostSteps = 30_000;

let gantry: TestService;
let skewed: Skewed;
let pipeline: number;

let counter: StepCounter;

before(async () => {
  if (engine !== 'sqlite') return;
  gantry = await startTestService();
  skewed = await makeSkewed(gantry);
  await fillRequests(gantry, skewed);
  pipeline = await fillJobs(gantry, skewed);
  await fillRest(gantry, skewed);
  counter = countSteps();
});
after(async () => {
  if (engine !== 'sqlite') return;
  counter.stop();
  await gantry.close();
});

/** Fills in a path's parameters with records that exist, where one does. */
const fillPath = (path: string): string =>
  path.replaceAll(/:(\w+)/g, (_whole, name: string) => {
    if (name === 'id' && path.startsWith('/groups')) return skewed.group;
    if (name === 'id' && path.startsWith('/projects')) return String(skewed.project.id);
    if (name === 'id' && /^\/(?:users|namespaces)/.test(path)) return String(skewed.user.id);
    if (name === 'user_id') return String(skewed.user.id);
    if (name === 'milestone_id') return String(skewed.milestone_id);
    if (name === 'pipeline_id') return String(pipeline);
    return '1';
  });

const gets = endpoints.filter(({ method }) => method === 'GET');

/** Requests an endpoint and returns the runs of its statements. */
const request = async (
  path: string,
  isList: boolean,
  as: string,
): Promise<{ status: number; ran: Steps[] }> => {
  counter.take();
  const { status } = await gantry.api(`GET ${fillPath(path)}${isList ? '?per_page=5' : ''}`, { as });
  assert.notEqual(status, 500, path);
  return { status, ran: counter.take() };
};

test(
  'reads few rows in every statement of every endpoint, for a member and an administrator',
  { skip: engine !== 'sqlite' },
  async () => {
    const faults: string[] = [];
    const check = (path: string, ran: readonly Steps[]): void => {
      const most = knownSteps.get(path) ?? mostSteps;
      for (const { replans, steps, text } of ran) {
        if (replans > 0) faults.push(`${path} replans ${text}`);
        if (steps > most) faults.push(`${path}: ${steps} steps for ${text}`);
      }
    };
    let answered = 0;
    for (const { path, list } of gets) {
      for (const as of [skewed.user.token, rootToken]) {
        const { status, ran } = await request(path, list === true, as);
        if (status === 200) answered += 1;
        check(path, ran);
      }
    }
    assert.ok(answered > 150, `only ${answered} answers`);
    assert.deepEqual(faults, []);
  },
);

/** An exact total reads each record that the filter leaves, of which there are 3,000; each for each would be millions. */
const mostFilterSteps = 200_000;

type Property = {
  type?: string;
  enum?: (string | number)[];
  anyOf?: Property[];
  const?: string | number;
  items?: Property;
};

/** Values of filters whose schema does not say which exist. */
const namedValues: Readonly<Record<string, string>> = {
  labels: 'common',
  milestone: 'v1',
  search: 'hay',
  scope: 'all',
};

const valuesOf = (name: string, schema: Property): string[] => {
  const named = namedValues[name];
  if (named !== undefined) return [named];
  const { type, anyOf, items } = schema;
  if (schema.enum !== undefined) return schema.enum.map((one) => String(one));
  if (schema.const !== undefined) return [String(schema.const)];
  if (anyOf !== undefined) return anyOf.flatMap((one) => valuesOf(name, one));
  if (items !== undefined) return valuesOf(name, items);
  if (type === 'boolean') return ['true', 'false'];
  if (type === 'integer' || type === 'number') return [name.endsWith('_id') ? String(skewed.user.id) : '1'];
  return [/_(?:after|before|at)$|^(?:since|until)$/.test(name) ? '2030-01-01' : 'x'];
};

/** The queries of a list: each filter with each of its values. */
const queriesOf = ({ path, params }: (typeof gets)[number]): string[] =>
  Object.entries(params.properties as Record<string, Property>)
    .filter(([name]) => !path.includes(`:${name}`) && !/page/.test(name))
    .flatMap(([name, schema]) =>
      [...new Set(valuesOf(name, schema))].map(
        (value) => `${name}${schema.type === 'array' ? '[]' : ''}=${encodeURIComponent(value)}`,
      ),
    );

test('reads few rows with each filter of each list', { skip: engine !== 'sqlite' }, async () => {
  const faults: string[] = [];
  const cases = gets
    .filter(({ list }) => list === true)
    .flatMap((endpoint) => queriesOf(endpoint).map((query) => ({ path: endpoint.path, query })));
  assert.ok(cases.length > 500, `only ${cases.length} filters`);
  for (const { path, query } of cases) {
    counter.take();
    const address = `${fillPath(path)}?per_page=5&${query}`;
    const { status } = await gantry.api(`GET ${address}`, { as: skewed.user.token });
    assert.ok(status < 500, `${address} answers ${status}`);
    const most = Math.max(knownSteps.get(path) ?? 0, mostFilterSteps);
    const slow = counter.take().filter(({ steps }) => steps > most);
    for (const { steps, text } of slow) faults.push(`${path}?${query}: ${steps} steps for ${text}`);
  }
  assert.deepEqual(faults, []);
});

test(
  'reads late pages and due issues of a project without passing over others',
  { skip: engine !== 'sqlite' },
  async () => {
    const read = async (query: string) => {
      counter.take();
      // A length of its own, so that no page is cached.
      const path = `/projects/${skewed.project.id}/issues?scope=all&per_page=6&${query}`;
      const { body, headers } = await gantry.api(`GET ${path}`, { as: skewed.user.token });
      const ran = counter.take().filter(({ text }) => /^\s*select issues\.id, issues\.revision/.test(text));
      return { length: body.length, total: Number(headers.get('x-total')), ran };
    };
    // Each issue that the page skips is a few steps along an index, which alone is read for them.
    const late = await read('page=495');
    assert.deepEqual([late.length, late.ran.length], [6, 1]);
    assert.match(late.ran[0]?.text ?? '', /as page_id from issues indexed by "?issues_created/);
    assert.ok((late.ran[0]?.steps ?? 0) < 20_000, `${late.ran[0]?.steps} steps for a late page`);
    // What is beyond the end is not looked for.
    const beyond = await read('page=9000');
    assert.deepEqual([beyond.length, beyond.total, beyond.ran], [0, late.total, []]);
    for (const query of [
      'due_date=overdue',
      'due_date=overdue&state=opened&sort=asc',
      'due_date=any&page=15',
    ]) {
      const { length, ran } = await read(query);
      assert.deepEqual([length, ran.length], [6, 1], query);
      assert.ok((ran[0]?.steps ?? 0) < 5_000, `${ran[0]?.steps} steps for ${query}`);
    }
    const none = await read('due_date=tomorrow');
    assert.deepEqual([none.length, none.total], [0, 0]);
    assert.ok((none.ran[0]?.steps ?? 0) < 200, `${none.ran[0]?.steps} steps for none`);
  },
);
