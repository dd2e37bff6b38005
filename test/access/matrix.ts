/** Requests every row of the table as every person, in one place after another. */
import { setTimeout as wait } from 'node:timers/promises';
import { isDrawn, isWhole, oneOfSoMany } from '../support/run/sample.ts';
import { engine } from '../support/service.ts';
import { type IssueState, type Row, expectedAnswer, rows, wordFor } from './expected.ts';
import type { Cell } from './makers/makers.ts';
import type { Person } from './people.ts';
import { pathOf, recipes } from './recipes/recipes.ts';
import { type Wire, forEachAtOnce, readsAtOnce, writesAtOnce } from './pipelined_requests.ts';
import type { Place, World } from './world.ts';
import { setIids } from '../support/seed.ts';

const kindsOfProject = ['project', 'code', 'jobs', 'issues switched', 'trackers switched'];

/** Which rows are requested in which place. */
export type CellSelection = { place: Place; kinds: readonly string[]; states: readonly IssueState[] };

export const selectInProject = (place: Place, states: readonly IssueState[]): CellSelection => {
  // The endpoints of the project, its code and its jobs do not depend on these switches.
  const kinds = place.situation.issues === 'enabled' ? kindsOfProject : kindsOfProject.slice(3);
  return { place, kinds: [...kinds, 'issue', 'merge request'], states };
};

const isRequested = ({ kind }: Row, person: Person): boolean =>
  kind === 'group' || person.name !== 'member of a project below';

const isTarget = (kind: string): boolean => kind === 'issue' || kind === 'merge request';

/** No merge request is confidential. */
const statesOf = ({ kind }: Row, states: readonly IssueState[]): readonly IssueState[] => {
  if (!isTarget(kind)) return ['plain'];
  return kind === 'issue' ? states : states.filter((state) => state !== 'confidential');
};

const namesFor = ({ kind }: Row, person: Person, place: Place, state: IssueState) => {
  const all = kind === 'merge request' ? place.requests : place.issues;
  const one = isTarget(kind) ? all.get(state) : undefined;
  const own = person.name === 'guest and author' ? one?.of_guest : one?.usual;
  return { ...place.names, ...own };
};

export const cellsOf = ({ people }: World, { place, kinds, states }: CellSelection): Cell[] =>
  rows
    .filter(({ kind }) => kinds.includes(kind))
    .flatMap((row) =>
      statesOf(row, states).flatMap((state) =>
        [...people.all.values()]
          .filter((person) => isRequested(row, person))
          .map((person) => ({ row, person, place, state, names: namesFor(row, person, place, state) })),
      ),
    );

/** Creates what the cells need, in one transaction, each kind of record for all cells at once. */
export const prepare = async (world: World, cells: Cell[]): Promise<void> => {
  const byRow = Map.groupBy(cells, ({ row, state }) => `${row.name} ${state}`);
  await world.gantry.service.platform.store.write(async (tx) => {
    for (const group of byRow.values()) {
      const [first] = group;
      for (const make of recipes[first?.row.name ?? '']?.makes ?? []) await make(tx, group, world);
    }
    for (const [place, ofPlace] of Map.groupBy(cells, (cell) => cell.place)) {
      if (ofPlace.some(({ row }) => row.kind !== 'group'))
        await setIids(tx.db, Number(place.names['project']), place.iids);
    }
  });
};

type Db = World['gantry']['service']['platform']['store']['db'];

const said = ({ row, person, place, state }: Cell): string => {
  const { visibility, issues, merge_requests, code, builds, closed_builds, archived } = place.situation;
  const switches = [
    `issues ${issues}`,
    merge_requests && `merge requests ${merge_requests}`,
    code && `code ${code}`,
    builds && `jobs ${builds}`,
    closed_builds && 'pipelines not public',
    archived && 'archived',
  ];
  const kind = isTarget(row.kind) ? [state] : [];
  return `${row.name} | ${person.name} | ${[visibility, ...kind, ...switches].filter(Boolean).join(', ')}`;
};

export const ask = async (wire: Wire, cell: Cell): Promise<string | null> => {
  const { row, person, names, place, state } = cell;
  const { body, form, holds } = recipes[row.name] ?? {};
  const headers = {
    ...person.headers,
    ...(cell.token !== undefined && { 'private-token': cell.token }),
    ...(form !== undefined && { 'content-type': 'multipart/form-data; boundary=x' }),
  };
  const path = `/api/v4${pathOf(cell)}`;
  const received = await wire.send({ method: row.method, path, headers, body: form ?? body?.(names, cell) });
  const isList = holds !== undefined && received.status === 200;
  const held = isList ? (received.body as { id: number }[]).some((item) => holds(item, names)) : null;
  const answered = wordFor(received, held);
  const expected = expectedAnswer(row, person.name, { ...place.situation, issue: state });
  return answered === expected ? null : `${said(cell)}: expected ${expected}, got ${answered}`;
};

type Content = Map<string, Set<string>>;

/** Columns that change without a request's action: last use of tokens, and the search index. */
const restless: Record<string, string[]> = {
  tokens: ['last_used_at', 'last_used_ip'],
  users: ['last_activity_on'],
  sessions: ['last_seen_at'],
  // Contact times of runners and jobs.
  jobs: ['seen_at'],
  runners: ['contacted_at'],
  issue_search: ['indexed'],
  merge_request_search: ['indexed'],
  // Commits of pushes are counted by background work.
  activities: ['data'],
  // Mergeability is computed on read.
  merge_requests: ['merge_status', 'checked_source_sha', 'checked_target_sha', 'revision'],
  project_counters: ['merge_requests_version'],
};

// The log of deliveries also has those that failed. Background work indexes code and texts.
const isKept = (table: string): boolean =>
  table !== 'work' && table !== 'hook_logs' && !/^(?:code_|(?:issue|merge_request)_search_index)/.test(table);

/** Every row of every table, as text. */
export const contentOf = async (db: Db): Promise<Content> => {
  const content: Content = new Map();
  const tables = (await db.introspection.getTables()).map(({ name }) => name).filter(isKept);
  for (const table of tables) {
    const all: Record<string, unknown>[] = await db
      .selectFrom(table as 'users')
      .selectAll()
      .execute();
    const columns = restless[table] ?? [];
    for (const column of columns) for (const row of all) delete row[column];
    // An administrator's use of sudo is recorded whatever its result.
    const rows = all.filter((row) => row['kind'] !== 'sudo.used');
    content.set(table, new Set(rows.map((row) => JSON.stringify(row))));
  }
  return content;
};

/** Waits for background work: deletions of earlier records and updates after pushes. */
export const isPurged = async (db: Db): Promise<void> => {
  const query = db
    .selectFrom('work')
    .select('id')
    .where((is) =>
      is.or([
        is('name', 'like', 'purge%'),
        is('name', 'like', 'repository.%'),
        is('name', 'like', 'merge_requests.%'),
        is('name', 'like', 'pipelines.%'),
      ]),
    );
  while ((await query.executeTakeFirst()) !== undefined) await wait(10);
};

/** Rows that are in the first set and not in the second. */
export const differences = (before: Content, after: Content): string[] =>
  [...after].flatMap(([table, lines]) => {
    const old = before.get(table) ?? new Set();
    const fresh = [...lines].filter((line) => !old.has(line)).map((line) => `written in ${table}: ${line}`);
    const gone = [...old].filter((line) => !lines.has(line)).map((line) => `gone from ${table}: ${line}`);
    return [...fresh, ...gone];
  });

const isHarmless = ({ row, person, place, state }: Cell): boolean =>
  row.method === 'GET' ||
  !expectedAnswer(row, person.name, { ...place.situation, issue: state }).startsWith('2');

/**
 * PostgreSQL runs one cell in so many, different ones in each place: the same code decides access, and other tests
 * cover its queries. All cells would take half an hour.
 */
const share = engine === 'postgres' ? 5 : 1;
/** `npm test` runs one cell in so many in each place, and each endpoint for somebody in one place of so many. */
const fastShare = 16 * share;
const placeShare = 3;

/** Names the endpoint if this place has a request for it in any case. */
const groupOf = ({ row, place }: Cell): string =>
  isDrawn(`${row.name} ${JSON.stringify(place.situation)}`, placeShare) ? row.name : '';

/**
 * Requests everything as every person. Requests that are refused or only read come first and must leave the store
 * unchanged; then those that succeed.
 * @returns the number of requests, and a line for each unexpected response
 */
export const askAll = async (
  world: World,
  wire: Wire,
  selections: CellSelection[],
): Promise<{ cells: number; wrong: string[] }> => {
  const all = selections.flatMap((one) => cellsOf(world, one));
  const cells = oneOfSoMany(all, isWhole ? share : fastShare, said, groupOf);
  await prepare(world, cells);
  const wrong: string[] = [];
  const askOne = async (cell: Cell): Promise<void> => {
    const line = await ask(wire, cell);
    if (line !== null) wrong.push(line);
  };
  const { db } = world.gantry.service.platform.store;
  await isPurged(db);
  const before = await contentOf(db);
  await forEachAtOnce(cells.filter(isHarmless), askOne, readsAtOnce);
  wrong.push(...differences(before, await contentOf(db)));
  const effective = cells.filter((cell) => !isHarmless(cell));
  await forEachAtOnce(effective, askOne, writesAtOnce);
  return { cells: cells.length, wrong };
};
