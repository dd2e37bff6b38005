/**
 * Every endpoint that writes leaves a row in the change log or in the audit log, so that activity, webhooks and audits
 * have something to read. The exceptions are named here, each with its reason.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { expectedAnswer, rows } from '../access/expected.ts';
import type { Cell } from '../access/makers/makers.ts';
import { ask, selectInProject, cellsOf, isPurged, prepare } from '../access/matrix.ts';
import { type Wire, openWire } from '../access/pipelined_requests.ts';
import { type World, makeGroupPlace, makePlace, makeWorld } from '../access/world.ts';
import { isDrawn } from '../support/run/sample.ts';
import { type TestService, startTestService } from '../support/service.ts';

const computes = 'only computes';
const hasNothingToDo = 'the request of the table has nothing to change; a change is recorded';
const isPersonal = 'a setting of one person, that nobody else sees';
const isDraft = 'a draft, that nobody else sees; its publication is recorded';
const isOfJobs = 'by runners: statuses of jobs and pipelines are recorded where they change';
const isLater = 'done later, by background work that records it';
const isLogged = 'recorded in the log of the hook';

const exceptions: { [endpoint: string]: string } = {
  'POST /markdown': computes,
  'POST /ci/lint': computes,
  'POST /projects/:id/ci/lint': computes,
  'POST /projects/:id/unarchive': hasNothingToDo,
  'POST /projects/:id/issues/:issue_iid/reset_time_estimate': hasNothingToDo,
  'POST /projects/:id/issues/:issue_iid/reset_spent_time': hasNothingToDo,
  'POST /projects/:id/merge_requests/:merge_request_iid/reset_time_estimate': hasNothingToDo,
  'POST /projects/:id/merge_requests/:merge_request_iid/reset_spent_time': hasNothingToDo,
  'PUT /projects/:id/merge_requests/:merge_request_iid/reset_approvals': hasNothingToDo,
  'PUT /projects/:id/repository/branches/:branch/unprotect': hasNothingToDo,
  'DELETE /projects/:id/repository/merged_branches': hasNothingToDo,
  'POST /todos/mark_as_done': hasNothingToDo,
  'PUT /user/avatar': hasNothingToDo,
  'PUT /application/settings': hasNothingToDo,
  'POST /projects/:id/labels/:label_id/subscribe': isPersonal,
  'POST /projects/:id/labels/:label_id/unsubscribe': isPersonal,
  'POST /groups/:id/labels/:label_id/subscribe': isPersonal,
  'POST /groups/:id/labels/:label_id/unsubscribe': isPersonal,
  'POST /projects/:id/merge_requests/:merge_request_iid/draft_notes': isDraft,
  'PUT /projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id': isDraft,
  'DELETE /projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id': isDraft,
  'POST /runners/verify': isOfJobs,
  'DELETE /runners/managers': isOfJobs,
  'POST /jobs/request': isOfJobs,
  'PUT /jobs/:id': isOfJobs,
  'POST /jobs/:id/artifacts': isOfJobs,
  'POST /jobs/:id/artifacts/authorize': isOfJobs,
  'PUT /projects/:id/merge_requests/:merge_request_iid/rebase': isLater,
  'POST /project_repository_storage_moves': isLater,
  'POST /projects/:id/hooks/:hook_id/events/:event_id/resend': isLogged,
  'POST /groups/:id/hooks/:hook_id/events/:event_id/resend': isLogged,
  'POST /hooks/:hook_id/events/:event_id/resend': isLogged,
};

let gantry: TestService;
let world: World;
let wire: Wire;
before(async () => {
  const env = { GANTRY_LOG_LEVEL: 'error', GANTRY_REPOSITORY_STORAGES: 'default,second' };
  gantry = await startTestService(env);
  world = await makeWorld(gantry);
  wire = openWire(gantry.url);
});
after(async () => {
  wire.close();
  await gantry.close();
});

const succeeds = ({ row, person, place, state }: Cell): boolean =>
  expectedAnswer(row, person.name, { ...place.situation, issue: state }).startsWith('2');

/** `npm test` asks one endpoint in so many. */
const share = 6;

const isWrite = ({ row, state }: Cell): boolean =>
  row.method !== 'GET' && state === 'plain' && isDrawn(row.endpoint, share);

/** One successful request for each row of the table: by an administrator if they may. */
const chooseCells = (cells: Cell[]): Cell[] =>
  [...Map.groupBy(cells.filter(isWrite).filter(succeeds), ({ row }) => row.name).values()].flatMap(
    (group) => group.find(({ person }) => person.name === 'admin') ?? group.slice(0, 1),
  );

const lastRows = async (): Promise<string> => {
  const { db } = gantry.service.platform.store;
  const [change, audit] = await Promise.all([
    db.selectFrom('events').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst(),
    db.selectFrom('audit_events').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst(),
  ]);
  return `${change?.id} ${audit?.id}`;
};

test('every writing endpoint is recorded, or named with a reason', async () => {
  const project = await makePlace(world, { visibility: 'public', issues: 'enabled' });
  const group = await makeGroupPlace(world, 'public');
  const cells = chooseCells([
    ...cellsOf(world, selectInProject(project, ['plain'])),
    ...cellsOf(world, { place: group, kinds: ['group'], states: [] }),
    ...cellsOf(world, { place: project, kinds: ['instance', 'everybody'], states: [] }),
  ]);
  await prepare(world, cells);
  await isPurged(gantry.service.platform.store.db);
  const recorded = new Map<string, boolean>();
  for (const cell of cells) {
    const before = await lastRows();
    assert.equal(await ask(wire, cell), null);
    const { endpoint } = cell.row;
    recorded.set(endpoint, recorded.get(endpoint) === true || (await lastRows()) !== before);
  }
  const unrecorded = [...recorded].filter(([, isRecorded]) => !isRecorded).map(([endpoint]) => endpoint);
  assert.ok(recorded.size > 20);
  assert.deepEqual(
    unrecorded.filter((endpoint) => !(endpoint in exceptions)),
    [],
  );
  const declared = new Set(rows.map(({ endpoint }) => endpoint));
  assert.deepEqual(
    Object.keys(exceptions).filter((endpoint) => !declared.has(endpoint)),
    [],
  );
});
