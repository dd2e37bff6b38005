/** Fixtures for tests of merge requests: projects with code. */
import assert from 'node:assert/strict';
import { type SeedCommitOptions, seedCommit } from '../support/repositories/seed_commits.ts';
import {
  type MergeRequestSeed,
  type ProjectSeed,
  type SeededIssue,
  seedMergeRequest,
  unique,
} from '../support/seed.ts';
import { type Reply, type Team, type World, startWorld } from './world.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
export type MergeRequest = any;

type Edit = { as?: string; headers?: Record<string, string> };

export type CodeWorld = World & {
  /** A project with a member of each role and a file on `main`, its default branch. */
  codeTeam: (attributes?: ProjectSeed, columns?: Record<string, unknown>) => Promise<Team>;
  /** Creates a branch of `main` with one more commit; returns its name. */
  branch: (project: number, options?: SeedCommitOptions) => Promise<string>;
  /** Opens a merge request of a new branch into `main`; returns its JSON. */
  open: (project: number, fields?: object, as?: string) => Promise<MergeRequest>;
  post: (project: number, fields: object, as?: string) => Promise<Reply>;
  put: (request: MergeRequest, fields: object, edit?: Edit) => Promise<Reply>;
  get: (request: MergeRequest, rest?: string, as?: string) => Promise<Reply>;
  /** A merge request row without code. */
  seeded: (attributes: MergeRequestSeed) => Promise<SeededIssue>;
  /** Texts of the system notes, oldest first. */
  requestNotes: (request: MergeRequest) => Promise<string[]>;
  requestTodos: (
    request: MergeRequest,
  ) => Promise<{ user_id: number; action: string; state: string; body: string }[]>;
  /** Sets columns of a project's row. */
  setProject: (id: number, columns: Record<string, unknown>) => Promise<void>;
};

export const pathOf = ({ project_id, iid }: { project_id: number; iid: number }): string =>
  `/projects/${project_id}/merge_requests/${iid}`;

const asked = (as: string | undefined) => (as === undefined ? {} : { as });

export const startCodeWorld = async (environment: Record<string, string> = {}): Promise<CodeWorld> => {
  const world = await startWorld(environment);
  const { gantry, api } = world;
  const { store } = gantry.service.platform;

  const setProject: CodeWorld['setProject'] = async (id, columns) => {
    await store.write(
      async ({ db }) => await db.updateTable('projects').set(columns).where('id', '=', id).execute(),
    );
  };
  const branch: CodeWorld['branch'] = async (project, options = {}) => {
    const name = options.branch ?? unique('feature');
    await seedCommit(
      gantry,
      project,
      { [`${name}.txt`]: `${name}\n` },
      { from: 'main', ...options, branch: name },
    );
    return name;
  };
  const post: CodeWorld['post'] = async (project, json, as) =>
    await api(`POST /projects/${project}/merge_requests`, { json, ...asked(as) });
  const of = (id: number) => ({ target_type: 'MergeRequest', target_id: id }) as const;
  return {
    ...world,
    setProject,
    branch,
    post,
    codeTeam: async (attributes, columns = {}) => {
      const team = await world.team(attributes);
      await seedCommit(gantry, team.id, { 'README.md': 'Read me\n' });
      if (Object.keys(columns).length > 0) await setProject(team.id, columns);
      return team;
    },
    open: async (project, fields = {}, as) => {
      const source_branch = 'source_branch' in fields ? String(fields.source_branch) : await branch(project);
      const reply = await post(
        project,
        { title: 'A change', target_branch: 'main', ...fields, source_branch },
        as,
      );
      assert.equal(reply.status, 201, reply.text);
      return reply.body;
    },
    put: async (request, json, { as, headers } = {}) =>
      await api(`PUT ${pathOf(request)}`, { json, ...asked(as), ...(headers !== undefined && { headers }) }),
    get: async (request, rest = '', as) => await api(`GET ${pathOf(request)}${rest}`, asked(as)),
    seeded: async (attributes) => await seedMergeRequest(gantry, attributes),
    requestNotes: async ({ id }) => {
      const { target_type, target_id } = of(id);
      const query = store.db
        .selectFrom('notes')
        .select('body')
        .where('target_type', '=', target_type)
        .where('target_id', '=', target_id)
        .where('system', '=', 1);
      return (await query.orderBy('id').execute()).map(({ body }) => body);
    },
    requestTodos: async ({ id }) => {
      const { target_type, target_id } = of(id);
      const query = store.db
        .selectFrom('todos')
        .select(['user_id', 'action', 'state', 'body'])
        .where('target_type', '=', target_type)
        .where('target_id', '=', target_id);
      return (await query.orderBy('id').execute()).map((row) => ({ ...row }));
    },
  };
};
