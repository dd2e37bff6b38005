/**
 * A made-up instance of any size, the same for the same size: people, groups, labels, milestones and issues, as
 * unevenly distributed as in practice. Written directly into a store, with all that the service derives from it.
 */
import type { Insertable, RawBuilder } from 'kysely';
import { sql } from 'kysely';
import type { Store, Tx } from '../../src/platform/db/open.ts';
import type { Schema } from '../../src/platform/db/schema/database.ts';
import { foldCase } from '../../src/platform/unicode.ts';
import { claimRoute, insertNamespace } from '../../src/identity/namespaces/create.ts';
import { insertToken } from '../../src/identity/tokens/create.ts';
import { insertUser } from '../../src/identity/users/create.ts';
import { type MadeIssue, counts, firstTime, makeIssue } from './draw_issues.ts';

/** Four of five issues are in the one large project. */
const inOthers = 5;

type Row<T extends keyof Schema> = Insertable<Schema[T]>;

/** Rows as one parameter, so that a thousand are one statement. */
export const bulkInsert = async <T extends keyof Schema>(tx: Tx, table: T, rows: Row<T>[]): Promise<void> => {
  const [first] = rows;
  if (first === undefined) return;
  const names = Object.keys(first);
  const columns = sql.join(names.map((name) => sql.ref(name)));
  const text = JSON.stringify(rows);
  const source: RawBuilder<unknown> =
    tx.dialect.engine === 'sqlite'
      ? sql`select ${sql.join(names.map((name) => sql`value ->> ${sql.lit(name)}`))} from json_each(${text})`
      : sql`select ${columns} from json_populate_recordset(null::${sql.table(table)}, ${text})`;
  await sql`insert into ${sql.table(table)} (${columns}) ${source}`.execute(tx.db);
};

export type Person = { id: number; username: string; token: string };

export type IssueRef = { id: number; iid: number };

/** The parts of a seeded database that tests and measurements refer to. */
export type World = {
  /** Issues of the large project, soft-deleted ones counted. */
  issues: number;
  group_id: number;
  project_id: number;
  project_path: string;
  /** A developer of the group, a guest of the project, and a user without membership. */
  developer: Person;
  guest: Person;
  outsider: Person;
  users: { id: number; username: string }[];
  labels: { id: number; title: string }[];
  milestones: { id: number; title: string }[];
  otherProjects: number[];
  /** The newest hundred issues that a developer sees, newest first. */
  newest: IssueRef[];
  /** About a hundred visible to that developer, spread from the first to the last. */
  sample: IssueRef[];
};

const makePerson = async (tx: Tx, username: string): Promise<Person> => {
  const names = { username, name: `Name of ${username}`, email: `${username}@example.com` };
  const id = await insertUser(tx, null, { ...names, password_hash: null });
  return { id, username, token: `token-of-${username}` };
};

const giveToken = async (tx: Tx, { id, token }: Person): Promise<void> => {
  const row = { user_id: id, kind: 'personal', name: 'bench', scopes: ['api'], expires_at: null } as const;
  await insertToken(tx, null, { ...row, scopes: [...row.scopes] }, token);
};

const member = (user_id: number, source_type: 'Namespace' | 'Project', source_id: number, level: number) => ({
  user_id,
  source_type,
  source_id,
  access_level: level,
  expires_at: null,
  created_by_id: null,
  created_at: firstTime,
});

const makeProject = async (tx: Tx, namespace: { id: number; full_path: string }, path: string) => {
  const full_path = `${namespace.full_path}/${path}`;
  const none = { description: null, default_branch: null, forked_from_project_id: null, deleted_at: null };
  const times = { created_at: firstTime, updated_at: firstTime, last_activity_at: firstTime };
  const { id } = await tx.db
    .insertInto('projects')
    .values({
      namespace_id: namespace.id,
      path,
      full_path,
      name: path,
      visibility: 'internal',
      creator_id: 1,
      ...none,
      ...times,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await tx.db.insertInto('project_counters').values({ project_id: id }).execute();
  await claimRoute(tx, full_path, ['Project', id]);
  return { id, full_path };
};

const makeLabels = async (tx: Tx, project_id: number): Promise<World['labels']> => {
  const rows = Array.from({ length: counts.labels }, (_, index) => ({
    project_id,
    group_id: null,
    title: `label ${index}`,
    color: '#428BCA',
    description: null,
    priority: null,
    created_at: firstTime,
    updated_at: firstTime,
  }));
  return await tx.db.insertInto('labels').values(rows).returning(['id', 'title']).execute();
};

const makeMilestones = async (tx: Tx, project_id: number): Promise<World['milestones']> => {
  const rows = Array.from({ length: counts.milestones }, (_, index) => ({
    iid: index + 1,
    project_id,
    group_id: null,
    title: `v${index}`,
    description: `The version ${index}`,
    state: 'active' as const,
    start_date: '2020-01-01',
    due_date: '2030-01-01',
    created_at: firstTime,
    updated_at: firstTime,
  }));
  return await tx.db.insertInto('milestones').values(rows).returning(['id', 'title']).execute();
};

const makeGround = async (tx: Tx, issues: number): Promise<World> => {
  const people: Person[] = [];
  for (let index = 0; index < counts.users; index += 1) people.push(await makePerson(tx, `user${index}`));
  const [developer, guest, outsider] = [people[2], people[3], people[4]] as [Person, Person, Person];
  for (const one of [developer, guest, outsider]) await giveToken(tx, one);
  const common = {
    kind: 'group',
    parent_id: null,
    owner_id: null,
    description: '',
    visibility: 'internal',
  } as const;
  const group = { ...common, path: 'acme', full_path: 'acme', name: 'acme' };
  const group_id = await insertNamespace(tx, group);
  const namespace = { id: group_id, full_path: 'acme' };
  const { id: project_id, full_path } = await makeProject(tx, namespace, 'large');
  const otherProjects: number[] = [];
  for (let index = 0; index < counts.otherProjects; index += 1) {
    otherProjects.push((await makeProject(tx, namespace, `small${index}`)).id);
  }
  const colleagues = people.slice(10, 60).map(({ id }) => member(id, 'Namespace', group_id, 20));
  const named = [
    member(developer.id, 'Namespace', group_id, 30),
    member(guest.id, 'Project', project_id, 10),
  ];
  await tx.db
    .insertInto('members')
    .values([...named, ...colleagues])
    .execute();
  return {
    issues,
    group_id,
    project_id,
    project_path: full_path,
    developer,
    guest,
    outsider,
    otherProjects,
    users: people.map(({ id, username }) => ({
      id,
      username,
    })),
    labels: await makeLabels(tx, project_id),
    milestones: await makeMilestones(tx, project_id),
    newest: [],
    sample: [],
  };
};

type Numbered = { id: number; iid: number; project_id: number; made: MadeIssue };

const issueRow = ({ users, milestones }: World, { id, iid, project_id, made }: Numbered): Row<'issues'> => ({
  id,
  project_id,
  iid,
  title: made.title,
  description: made.description,
  state: made.state,
  author_id: users[made.author]?.id ?? 1,
  milestone_id: made.milestone === null ? null : (milestones[made.milestone]?.id ?? null),
  confidential: made.confidential,
  due_date: null,
  user_notes_count: made.notes,
  moved_to_id: null,
  closed_at: made.state === 'closed' ? made.updated_at : null,
  closed_by_id: null,
  created_at: made.created_at,
  updated_at: made.updated_at,
  deleted_at: made.isDeleted ? made.updated_at : null,
});

const target = ({ id }: Numbered) => ({ target_type: 'Issue' as const, target_id: id });

const insertBatch = async (tx: Tx, world: World, batch: Numbered[]): Promise<void> => {
  await bulkInsert(
    tx,
    'issues',
    batch.map((one) => issueRow(world, one)),
  );
  await bulkInsert(
    tx,
    'issue_search',
    batch.map(({ id, made }) => ({
      issue_id: id,
      title: foldCase(made.title),
      description: foldCase(made.description),
      // Marks the text as indexed, so that filling the index is part of no figure.
      indexed: 1 as const,
    })),
  );
  await bulkInsert(
    tx,
    'label_links',
    batch.flatMap((one) =>
      one.made.labels.map((index) => ({
        ...target(one),
        label_id: world.labels[index]?.id ?? 0,
        target_created_at: one.made.created_at,
      })),
    ),
  );
  await bulkInsert(
    tx,
    'assignees',
    batch.flatMap((one) =>
      one.made.assignees.map((index, position) => ({
        ...target(one),
        user_id: world.users[index]?.id ?? 1,
        position,
        target_created_at: one.made.created_at,
      })),
    ),
  );
  const shared = (one: Numbered) => ({
    ...target(one),
    project_id: one.project_id,
    created_at: one.made.created_at,
  });
  const noted = batch.filter(({ made }) => made.notes > 0);
  await bulkInsert(
    tx,
    'notes',
    noted.map((one) => ({
      ...shared(one),
      author_id: world.users[one.made.author]?.id ?? 1,
      body: 'Noted.',
      system: 0 as const,
      updated_at: one.made.created_at,
    })),
  );
  await bulkInsert(
    tx,
    'user_agent_details',
    batch.map((one) => ({ ...target(one), user_agent: 'curl/8.0', ip_address: '127.0.0.1' })),
  );
  await bulkInsert(
    tx,
    'events',
    batch.map((one) => ({
      ...shared(one),
      actor_id: 1,
      sudo_by_id: null,
      kind: 'issue.created',
      data: JSON.stringify({ iid: one.iid }),
    })),
  );
};

/** The last iid of every project, from its rows. */
const setIids = async (tx: Tx): Promise<void> => {
  await sql`insert into iid_sequences (project_id, kind, last)
    select project_id, 'issue', max(iid) from issues group by project_id`.execute(tx.db);
};

const batchSize = 1000;

/** The issues with these numbers, and with an iid each in their projects. */
const numbered = (
  world: World,
  first: number,
  count: number,
  total: number,
  iids: Map<number, number>,
): Numbered[] =>
  Array.from({ length: count }, (_, offset) => {
    const number = first + offset;
    const other = number % inOthers === 2 ? Math.floor(number / inOthers) % counts.otherProjects : null;
    const project_id = other === null ? world.project_id : (world.otherProjects[other] ?? 0);
    const iid = (iids.get(project_id) ?? 0) + 1;
    iids.set(project_id, iid);
    const made = makeIssue(number, total);
    // Labels and milestones belong to the large project.
    return {
      id: number + 1,
      iid,
      project_id,
      made: other === null ? made : { ...made, labels: [], milestone: null },
    };
  });

const seenIn = (world: World, batch: Numbered[]): IssueRef[] =>
  batch
    .filter(({ project_id, made }) => project_id === world.project_id && !made.isDeleted)
    .map(({ id, iid }) => ({ id, iid }));

/** Fills an empty store (with its first user) so that its large project has `issues` issues. */
export const fillWorld = async (
  store: Store,
  issues: number,
  progress: (done: number) => void = () => undefined,
): Promise<World> => {
  const world = await store.write(async (tx) => await makeGround(tx, issues));
  const total = Math.ceil((issues * inOthers) / (inOthers - 1));
  const iids = new Map<number, number>();
  const sampleEvery = Math.ceil(total / 500);
  for (let first = 0; first < total; first += batchSize) {
    const batch = numbered(world, first, Math.min(batchSize, total - first), total, iids);
    await store.write(async (tx) => await insertBatch(tx, world, batch));
    const seen = seenIn(world, batch);
    world.newest = [...world.newest, ...seen].slice(-100);
    world.sample.push(...seen.filter(({ id }) => id % sampleEvery === 0));
    progress((first + batch.length) / total);
  }
  const isPostgres = store.dialect.engine === 'postgres';
  await store.write(async (tx) => {
    if (isPostgres) await sql`set local statement_timeout = 0`.execute(tx.db);
    await setIids(tx);
    if (isPostgres) await sql`select setval(pg_get_serial_sequence('issues', 'id'), ${total})`.execute(tx.db);
  });
  return { ...world, newest: world.newest.toReversed() };
};
