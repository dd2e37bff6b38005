/**
 * No write reads all records of a kind: every endpoint that writes is requested in a project with thousands of issues,
 * merge requests, jobs, comments and members, beside thousands of other projects and users. Neither its statements nor
 * those of the background work that follows may take many steps of SQLite's machine.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { expectedAnswer } from '../access/expected.ts';
import type { Cell } from '../access/makers/makers.ts';
import { selectInProject, cellsOf, prepare } from '../access/matrix.ts';
import { type Wire, failWith, openWire } from '../access/pipelined_requests.ts';
import { pathOf, recipes } from '../access/recipes/recipes.ts';
import { type Place, type World, makeGroupPlace, makePlace, makeWorld } from '../access/world.ts';
import { sample } from '../support/run/sample.ts';
import { type TestService, engine, startTestService } from '../support/service.ts';
import { knownWriteSteps } from './known_steps.ts';
import { fillIssues } from './skewed.ts';
import { fillJobs } from './skewed_jobs.ts';
import { fillRequests } from './skewed_requests.ts';
import { fillRest } from './skewed_rest.ts';
import { type StepCounter, countSteps } from './step_counter.ts';

/** A write takes hundreds of steps; one that reads each of 3,000 records, tens of thousands. */
const mostSteps = 10_000;

let gantry: TestService;
let world: World;
let wire: Wire;
let counter: StepCounter;

/** Adds thousands of records to the project of a place. */
const fillPlace = async (place: Place): Promise<void> => {
  const { project, label_id, milestone_id, project_full_path } = place.names;
  const skewed = {
    project: { id: Number(project), full_path: String(project_full_path) },
    group: '',
    user: { id: world.people.idOf('developer'), token: '' },
    labels: [{ id: Number(label_id), title: 'common' }],
    milestone_id: Number(milestone_id),
    lastIid: 100,
  };
  await fillIssues(gantry, skewed);
  await fillRequests(gantry, skewed);
  await fillJobs(gantry, skewed);
  await fillRest(gantry, skewed);
  Object.assign(place.iids, { issue: 4000, merge_request: 4000, milestone: 4000 });
};

/** One request of each row that writes, by somebody who may. */
const writesIn = (place: Place, kinds: readonly string[]): Cell[] => {
  const allowed = cellsOf(world, { place, kinds, states: ['plain'] }).filter(
    ({ row, person, state }) =>
      row.method !== 'GET' &&
      expectedAnswer(row, person.name, { ...place.situation, issue: state }).startsWith('2'),
  );
  return [...Map.groupBy(allowed, ({ row }) => row.name).values()].map(([first]) => first as Cell);
};

const send = async (cell: Cell): Promise<number> => {
  const { row, person, names, token } = cell;
  const { body, form } = recipes[row.name] ?? {};
  const headers = {
    ...person.headers,
    ...(token !== undefined && { 'private-token': token }),
    ...(form !== undefined && { 'content-type': 'multipart/form-data; boundary=x' }),
  };
  const path = `/api/v4${pathOf(cell)}`;
  const { status } = await wire.send({
    method: row.method,
    path,
    headers,
    body: form ?? body?.(names, cell),
  });
  return status;
};

before(async () => {
  if (engine !== 'sqlite') return;
  gantry = await startTestService({
    GANTRY_LOG_LEVEL: 'error',
    GANTRY_REPOSITORY_STORAGES: 'default,second',
  });
  world = await makeWorld(gantry);
  wire = openWire(gantry.url);
});
after(async () => {
  if (engine !== 'sqlite') return;
  counter.stop();
  wire.close();
  await gantry.close();
});

test('reads few rows in every statement of every write', { skip: engine !== 'sqlite' }, async () => {
  const place = await makePlace(world, { visibility: 'private', issues: 'enabled' });
  const group = await makeGroupPlace(world, 'private');
  await fillPlace(place);
  const { kinds } = selectInProject(place, []);
  const all = [...writesIn(place, [...kinds, 'instance', 'everybody']), ...writesIn(group, ['group'])];
  assert.ok(all.length > 200, `only ${all.length} writes`);
  const cells = sample(all, 4, ({ row }) => row.name);
  await prepare(world, cells);
  await gantry.service.worker.drain();
  counter = countSteps();
  const faults: string[] = [];
  for (const cell of cells) {
    counter.take();
    const status = await send(cell);
    if (status >= 300) faults.push(`${cell.row.name} answers ${status}`);
    const ofRequest = counter.take();
    await gantry.service.worker.drain();
    const all = [...ofRequest, ...counter.take().map((one) => ({ ...one, text: `background: ${one.text}` }))];
    const most = knownWriteSteps.get(cell.row.endpoint) ?? mostSteps;
    for (const { steps, text } of all)
      if (steps > most) faults.push(`${cell.row.name}: ${steps} steps for ${text}`);
  }
  failWith(faults, cells.length);
});
