/** Creates the records for requests of the matrix: one for each request, many at once. */
import { randomBytes } from 'node:crypto';
import { generateTokenText } from '../../../src/core/access/credentials/token_text.ts';
import type { Tx } from '../../../src/platform/db/open.ts';
import { insertRow } from '../../../src/platform/db/insert.ts';
import { insertToken } from '../../../src/identity/tokens/create.ts';
import { insertUser } from '../../../src/identity/users/create.ts';
import { unique } from '../../support/seed.ts';
import type { IssueState, Row } from '../expected.ts';
import type { Person } from '../people.ts';
import {
  type OwnerRow,
  insertAssignees,
  insertAwards,
  insertGroups,
  insertIssues,
  insertLabels,
  insertMembers,
  insertMilestones,
  insertNotes,
  insertProjects,
  insertRequests,
  insertTodos,
} from './bulk_rows.ts';
import type { Names, Place, World } from '../world.ts';

/** One request: an endpoint in one variant, by one person, in one situation. */
export type Cell = {
  row: Row;
  person: Person;
  place: Place;
  state: IssueState;
  /** Values for path, query and body. */
  names: Names;
  /** A token to send instead of the person's own. */
  token?: string;
};

/** Creates the records that the cells need and stores their names in the cells. */
export type Maker = (tx: Tx, cells: Cell[], world: World) => Promise<void>;

const id = (cell: Cell, name: string): number => Number(cell.names[name]);

export const projectOf = (cell: Cell): number => id(cell, 'project');

/** The owner of a record that is "own"; a stand-in for anonymous callers. */
export const selfOf = ({ person }: Cell, { people }: World): number => person.user_id ?? people.writer;

/** Stores a name in each cell. */
export const nameAll = (cells: Cell[], name: string, values: (number | string)[]): void =>
  cells.forEach((cell, at) => void (cell.names[name] = values[at] ?? 0));

const isAuthor = ({ person }: Cell): boolean =>
  person.name === 'author' || person.name === 'guest and author';
const isAssignee = ({ person }: Cell): boolean =>
  person.name === 'assignee' || person.name === 'guest and assignee';

/** An issue in the cell's state; the person is its author or assignee if the cell says so. */
export const freshIssue: Maker = async (tx, cells, world) => {
  const rows = cells.map((cell) => ({
    project_id: id(cell, 'project'),
    iid: (cell.place.iids.issue += 1),
    author_id: isAuthor(cell) ? selfOf(cell, world) : world.people.writer,
    confidential: cell.state === 'confidential' ? (1 as const) : (0 as const),
    deleted: cell.state === 'deleted',
  }));
  const ids = await insertIssues(tx, rows);
  nameAll(cells, 'issue_id', ids);
  nameAll(
    cells,
    'issue_iid',
    rows.map(({ iid }) => iid),
  );
  const assigned = cells.filter(isAssignee);
  await insertAssignees(
    tx,
    assigned.map((cell) => ({ target_id: id(cell, 'issue_id'), user_id: selfOf(cell, world) })),
  );
};

/** A merge request, like `freshIssue`. */
export const freshRequest: Maker = async (tx, cells, world) => {
  const rows = cells.map((cell) => ({
    project_id: id(cell, 'project'),
    iid: (cell.place.iids.merge_request += 1),
    author_id: isAuthor(cell) ? selfOf(cell, world) : world.people.writer,
    deleted: cell.state === 'deleted',
  }));
  nameAll(cells, 'merge_request_id', await insertRequests(tx, rows));
  nameAll(
    cells,
    'merge_request_iid',
    rows.map(({ iid }) => iid),
  );
  const assigned = cells.filter(isAssignee);
  await insertAssignees(
    tx,
    assigned.map((cell) => ({ ...targetOf(cell), user_id: selfOf(cell, world) })),
  );
};

/** The issue or merge request of a cell. */
export const targetOf = (cell: Cell) =>
  cell.row.kind === 'merge request'
    ? { target_type: 'MergeRequest' as const, target_id: id(cell, 'merge_request_id') }
    : { target_type: 'Issue' as const, target_id: id(cell, 'issue_id') };

/** The record of a cell with comments: its snippet, if `notedSnippet` named one. */
export const noteableOf = (cell: Cell) =>
  cell.names['noted_snippet'] === undefined
    ? targetOf(cell)
    : { target_type: 'Snippet' as const, target_id: id(cell, 'noted_snippet') };

/** Comments and awards of the cell are on its snippet. */
export const notedSnippet: Maker = async (_tx, cells) => {
  for (const { names } of cells) names['noted_snippet'] = Number(names['snippet_id']);
  await Promise.resolve();
};

const note =
  (by: 'self' | 'writer', system: 0 | 1): Maker =>
  async (tx, cells, world) => {
    const rows = cells.map((cell) => ({
      project_id: id(cell, 'project'),
      ...noteableOf(cell),
      author_id: by === 'self' ? selfOf(cell, world) : world.people.writer,
      system,
    }));
    nameAll(cells, 'note_id', await insertNotes(tx, rows));
  };

export const ownNote = note('self', 0);
export const anothersNote = note('writer', 0);
/** The person is its author but has no rights on it. */
export const servicesNote = note('self', 1);

const award =
  (on: 'Issue' | 'Note', by: 'self' | 'writer'): Maker =>
  async (tx, cells, world) => {
    const rows = cells.map((cell) => ({
      ...(on === 'Issue' ? noteableOf(cell) : { target_type: on, target_id: id(cell, 'note_id') }),
      user_id: by === 'self' ? selfOf(cell, world) : world.people.writer,
    }));
    nameAll(cells, on === 'Issue' ? 'issue_award' : 'note_award', await insertAwards(tx, rows));
  };

export const ownAward = award('Issue', 'self');
export const anothersAward = award('Issue', 'writer');
export const ownNoteAward = award('Note', 'self');
export const anothersNoteAward = award('Note', 'writer');

export const ownTodo: Maker = async (tx, cells, world) => {
  const rows = cells.map((cell) => ({
    user_id: selfOf(cell, world),
    author_id: world.people.writer,
    project_id: id(cell, 'project'),
    ...targetOf(cell),
  }));
  nameAll(cells, 'todo', await insertTodos(tx, rows));
};

/** On an issue that everyone sees. */
export const anothersTodo: Maker = async (tx, cells, { people }) => {
  const project_id = id(cells[0] as Cell, 'haven');
  const highest = await tx.db
    .selectFrom('issues')
    .select((is) => is.fn.max('iid').as('iid'))
    .where('project_id', '=', project_id)
    .executeTakeFirstOrThrow();
  // Far from the iids of moved issues.
  const first = Math.max(highest.iid ?? 0, 1_000_000);
  const issues = cells.map((_cell, at) => ({ project_id, iid: first + at + 1, author_id: people.writer }));
  const ids = await insertIssues(tx, issues);
  const todos = ids.map((target_id) => ({
    user_id: people.newcomer,
    author_id: people.writer,
    project_id,
    target_id,
  }));
  nameAll(cells, 'todo', await insertTodos(tx, todos));
};

const ownerOf = (cell: Cell): OwnerRow =>
  cell.row.kind === 'group'
    ? { project_id: null, group_id: id(cell, 'group') }
    : { project_id: id(cell, 'project'), group_id: null };

export const freshLabel: Maker = async (tx, cells) => {
  const rows = cells.map((cell) => ({ ...ownerOf(cell), title: unique('label') }));
  nameAll(cells, 'label_id', await insertLabels(tx, rows));
  nameAll(
    cells,
    'label',
    rows.map(({ title }) => title),
  );
};

/** Everyone with an account is subscribed to the label. */
export const subscription: Maker = async (tx, cells, world) => {
  const shared = { target_type: 'Label', subscribed: 1, created_at: tx.now, updated_at: tx.now } as const;
  await tx.db
    .insertInto('subscriptions')
    .values(
      cells.map((cell) => ({ ...shared, user_id: selfOf(cell, world), target_id: id(cell, 'label_id') })),
    )
    .execute();
};

export const freshMilestone: Maker = async (tx, cells) => {
  const rows = cells.map((cell) => ({ ...ownerOf(cell), iid: (cell.place.iids.milestone += 1) }));
  nameAll(cells, 'milestone_id', await insertMilestones(tx, rows));
};

/** A project in which the person has their role; `owner` owns it through the group above. */
export const freshProject: Maker = async (tx, cells, { top, team }) => {
  const { visibility, archived = false, code = 'enabled' } = (cells[0] as Cell).place.situation;
  const made = await insertProjects(tx, top, cells.length, { visibility, archived, code });
  nameAll(
    cells,
    'project',
    made.map((one) => one.id),
  );
  for (const [user_id, own] of Map.groupBy(cells, ({ person }) => person.user_id)) {
    const ids = own.map((cell) => id(cell, 'project'));
    await insertMembers(
      tx,
      ['Project', ids],
      team.filter((member) => member.user_id === user_id),
    );
  }
};

/** A subgroup of the place in which everyone has the same role as in the place. */
export const freshGroup: Maker = async (tx, cells, { people }) => {
  const { visibility } = (cells[0] as Cell).place.situation;
  const above = await tx.db
    .selectFrom('namespaces')
    .select(['id', 'full_path'])
    .where('id', '=', id(cells[0] as Cell, 'group'))
    .executeTakeFirstOrThrow();
  const made = await insertGroups(tx, above, cells.length, visibility);
  nameAll(
    cells,
    'group',
    made.map((one) => one.id),
  );
  const at = cells.findIndex(({ person }) => person.name === 'member of a project below');
  const group = made[at];
  if (group === undefined) return;
  const [project] = await insertProjects(tx, group, 1, { visibility });
  const member = { user_id: people.idOf('member of a project below'), access_level: 30 };
  await insertMembers(tx, ['Project', [project?.id ?? 0]], [member]);
};

export const newcomerAsMember: Maker = async (tx, cells, { people }) => {
  const isGroup = cells[0]?.row.kind === 'group';
  const ids = cells.map((cell) => id(cell, isGroup ? 'group' : 'project'));
  await insertMembers(
    tx,
    [isGroup ? 'Namespace' : 'Project', ids],
    [{ user_id: people.newcomer, access_level: 20 }],
  );
  nameAll(
    cells,
    'user_id',
    ids.map(() => people.newcomer),
  );
};

const user =
  (state: 'active' | 'blocked'): Maker =>
  async (tx, cells) => {
    for (const cell of cells) {
      const username = unique('user');
      const names = { username, name: 'Made', email: `${username}@example.com`, password_hash: null };
      const made = await insertUser(tx, null, { ...names, state });
      Object.assign(cell.names, { user: made, user_id: made });
    }
  };

export const freshUser = user('active');
export const blockedUser = user('blocked');

export const application: Maker = async (tx, cells) => {
  for (const cell of cells) {
    const made = await insertRow(tx.db, 'oauth_applications', {
      owner_id: null,
      name: 'Made',
      uid: randomBytes(32).toString('hex'),
      secret_hash: '',
      redirect_uris: '[]',
      scopes: '["api"]',
      confidential: 1,
      trusted: 0,
      created_at: tx.now,
      updated_at: tx.now,
    });
    Object.assign(cell.names, { application: made });
  }
};

const token =
  (kind: 'personal' | 'impersonation', ofWhom: (cell: Cell, world: World) => number): Maker =>
  async (tx, cells, world) => {
    for (const cell of cells) {
      const columns = { user_id: ofWhom(cell, world), kind, name: 'made', scopes: ['api'], expires_at: null };
      const text = generateTokenText(randomBytes);
      const made = await insertToken(tx, null, columns, text);
      Object.assign(cell.names, { token: made, impersonation_token_id: made, user_id: columns.user_id });
    }
  };

export const ownToken = token('personal', selfOf);
export const anothersToken = token('personal', (_cell, { people }) => people.writer);
export const impersonationToken = token('impersonation', (_cell, { people }) => people.writer);

/** The request uses a token that may be revoked, unless it is to use an invalid one. */
export const passingToken: Maker = async (tx, cells, world) => {
  const root = 1;
  for (const cell of cells) {
    const { person } = cell;
    const isPlain = person.user_id !== null && !/token$|^blocked|read_/.test(person.name);
    if (!isPlain) continue;
    const user_id = person.name === 'admin as non-member' ? root : selfOf(cell, world);
    cell.token = generateTokenText(randomBytes);
    await insertToken(
      tx,
      null,
      { user_id, kind: 'personal', name: 'goes', scopes: ['api'], expires_at: null },
      cell.token,
    );
  }
};
