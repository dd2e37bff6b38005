/** Fixtures of this folder: a service, people of every role, and helpers to create and read records. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { LabelsTable, MilestonesTable } from '../../src/platform/db/schema/projects.ts';
import {
  type ProjectSeed,
  type SeededProject,
  type SeededUser,
  seedMember,
  seedProject,
  seedUser,
  unique,
} from '../support/seed.ts';
import { sendRequest } from '../support/send_request.ts';
import { type Reply, type TestService, startTestService } from '../support/service.ts';

export const levels = { guest: 10, reporter: 20, developer: 30, master: 40, owner: 50 } as const;

export type World = {
  gantry: TestService;
  url: string;
  /** A request as root: `api('GET /projects/1')`. */
  api: TestService['api'];
  /** The same with a body of any form. */
  raw: (line: string, init?: RawRequest) => Promise<Reply>;
  /** Creates an issue of `project` as root or `as`; returns its JSON. */
  issue: (project: number, fields?: object, as?: string) => Promise<Issue>;
  label: (project: number | { group: number }, title: string) => Promise<number>;
  milestone: (
    project: number | { group: number },
    fields?: Partial<Insertable<MilestonesTable>>,
  ) => Promise<Milestone>;
  project: (attributes?: ProjectSeed) => Promise<SeededProject>;
  /** A project of root's with a member of each role. */
  team: (attributes?: ProjectSeed) => Promise<Team>;
  /** Texts of the system notes of an issue, oldest first. */
  systemNotes: (issueId: number) => Promise<string[]>;
  /** Kinds of the events of a target, oldest first. */
  events: (
    targetType: string,
    targetId: number,
  ) => Promise<{ kind: string; data: unknown; actor_id: number | null }[]>;
  todos: (issueId: number) => Promise<{ user_id: number; action: string; state: string; body: string }[]>;
  close: () => Promise<void>;
};

export type RawRequest = { as?: string | null; body?: string | Buffer; headers?: Record<string, string> };
// oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
export type Issue = any;
export type Milestone = { id: number; iid: number; title: string };
export type Team = SeededProject & Record<keyof typeof levels | 'stranger', SeededUser>;

const root = 'root-token-of-the-tests';

const rawRequest =
  (url: string): World['raw'] =>
  async (line, { as = root, body, headers } = {}) => {
    const [method = 'GET', path = '/'] = line.split(/ (.*)/s);
    const answer = await sendRequest(`${url}${path}`, {
      method,
      headers: { ...(as !== null && { 'private-token': as }), ...headers },
      ...(body !== undefined && { body }),
    });
    const isJson = answer.headers.get('content-type') === 'application/json' && answer.text !== '';
    return { ...answer, body: isJson ? JSON.parse(answer.text) : undefined };
  };

const ownerOf = (owner: number | { group: number }) =>
  typeof owner === 'number'
    ? { project_id: owner, group_id: null }
    : { project_id: null, group_id: owner.group };

const makeTeam =
  (gantry: TestService): World['team'] =>
  async (attributes) => {
    const project = await seedProject(gantry, attributes);
    const people: Record<string, SeededUser> = { stranger: await seedUser(gantry) };
    for (const [name, access_level] of Object.entries(levels)) {
      const user = await seedUser(gantry);
      people[name] = user;
      await seedMember(gantry, { user: user.id, project: project.id, access_level });
    }
    return { ...project, ...(people as Record<keyof typeof levels | 'stranger', SeededUser>) };
  };

const makers = (gantry: TestService): Pick<World, 'label' | 'milestone' | 'issue'> => {
  const { store } = gantry.service.platform;
  return {
    label: async (owner, title) =>
      await store.write(async (tx) => {
        const row = { title, color: '#428BCA', description: null, priority: null } as Insertable<LabelsTable>;
        const times = { created_at: tx.now, updated_at: tx.now };
        const query = tx.db.insertInto('labels').values({ ...row, ...ownerOf(owner), ...times });
        return (await query.returning('id').executeTakeFirstOrThrow()).id;
      }),
    milestone: async (owner, fields = {}) =>
      await store.write(async (tx) => {
        const iid = randomBytes(3).readUIntBE(0, 3) + 1;
        const none = { description: null, start_date: null, due_date: null };
        const times = { created_at: tx.now, updated_at: tx.now };
        const row = {
          iid,
          title: unique('v'),
          state: 'active' as const,
          ...none,
          ...times,
          ...ownerOf(owner),
          ...fields,
        };
        const query = tx.db.insertInto('milestones').values(row);
        return await query.returning(['id', 'iid', 'title']).executeTakeFirstOrThrow();
      }),
    issue: async (project, fields = {}, as = root) => {
      const reply = await gantry.api(`POST /projects/${project}/issues`, {
        as,
        json: { title: 'An issue', ...fields },
      });
      assert.equal(reply.status, 201, reply.text);
      return reply.body;
    },
  };
};

const lookers = (gantry: TestService): Pick<World, 'systemNotes' | 'events' | 'todos'> => {
  const { db } = gantry.service.platform.store;
  return {
    systemNotes: async (issueId) => {
      const query = db
        .selectFrom('notes')
        .select('body')
        .where('target_type', '=', 'Issue')
        .where('system', '=', 1);
      return (await query.where('target_id', '=', issueId).orderBy('id').execute()).map(({ body }) => body);
    },
    events: async (targetType, targetId) => {
      const query = db
        .selectFrom('events')
        .select(['kind', 'data', 'actor_id'])
        .where('target_type', '=', targetType);
      const rows = await query.where('target_id', '=', targetId).orderBy('id').execute();
      return rows.map((row) => ({ ...row, data: JSON.parse(row.data) as unknown }));
    },
    todos: async (issueId) => {
      const query = db.selectFrom('todos').select(['user_id', 'action', 'state', 'body']);
      const own = query.where('target_type', '=', 'Issue').where('target_id', '=', issueId);
      return (await own.orderBy('id').execute()).map((row) => ({ ...row }));
    },
  };
};

export const startWorld = async (environment: Record<string, string> = {}): Promise<World> => {
  const gantry = await startTestService(environment);
  return {
    gantry,
    url: gantry.url,
    api: gantry.api,
    raw: rawRequest(gantry.url),
    project: (attributes) => seedProject(gantry, attributes),
    team: makeTeam(gantry),
    ...makers(gantry),
    ...lookers(gantry),
    close: gantry.close,
  };
};

/** Status and JSON at once, for answers that are compared whole. */
export const answer = ({ status, body }: Reply): [number, unknown] => [status, body];

/** The iids of a list's answer, in its order. */
export const iidsOf = ({ status, body, text }: Reply): number[] => {
  assert.equal(status, 200, text);
  return (body as { iid: number }[]).map(({ iid }) => iid);
};

export const ascending = (numbers: number[]): number[] => numbers.toSorted((a, b) => a - b);

export const sortedIids = (reply: Reply): number[] => ascending(iidsOf(reply));

export type { Reply };
