/** Creates projects with code and merge requests, and reads what happens to them. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { type SeedCommitOptions, seedCommit } from './repositories/seed_commits.ts';
import {
  type ProjectSeed,
  type SeededProject,
  type SeededUser,
  seedMember,
  seedProject,
  seedUser,
} from './seed.ts';
import type { Reply, TestService } from './service.ts';

export type Coded = SeededProject & { first: string };

/** Creates a project whose branch `main` has one file; `columns` are set on its row. */
export const seedCoded = async (
  gantry: TestService,
  seed: ProjectSeed = {},
  columns: Record<string, unknown> = {},
): Promise<Coded> => {
  const project = await seedProject(gantry, seed);
  const first = await seedCommit(gantry, project.id, { 'README.md': 'Read me\n' });
  if (Object.keys(columns).length > 0) {
    await gantry.service.platform.store.write(
      async ({ db }) => await db.updateTable('projects').set(columns).where('id', '=', project.id).execute(),
    );
  }
  return { ...project, first };
};

/** Creates a project with code and a member for each name, with the level that it has. */
export const seedCodedWith = async <N extends string>(
  gantry: TestService,
  levels: Record<N, number>,
): Promise<{ project: Coded } & Record<N, SeededUser>> => {
  const project = await seedCoded(gantry);
  const members: [string, SeededUser][] = [];
  for (const [name, access_level] of Object.entries<number>(levels)) {
    const user = await seedUser(gantry);
    await seedMember(gantry, { user: user.id, project: project.id, access_level });
    members.push([name, user]);
  }
  return { project, ...(Object.fromEntries(members) as Record<N, SeededUser>) };
};

// oxlint-disable-next-line typescript/no-explicit-any -- a record of the API, that tests assert on
export type Request = any;

/** Creates a branch of `main` with one commit that adds a file named like the branch. */
export const seedBranch = async (
  gantry: TestService,
  project: { id: number },
  branch: string,
  options: SeedCommitOptions & { files?: Record<string, string | null> } = {},
): Promise<string> => {
  const { files = { [`${branch}.txt`]: `${branch}\n` }, ...rest } = options;
  return await seedCommit(gantry, project.id, files, { from: 'main', ...rest, branch });
};

/** Opens a merge request. */
export const openRequest = async (
  gantry: TestService,
  project: { id: number },
  source_branch: string,
  attributes: { as?: string; target_branch?: string; title?: string; [name: string]: unknown } = {},
): Promise<Request> => {
  const { as, ...rest } = attributes;
  const reply = await gantry.api(`POST /projects/${project.id}/merge_requests`, {
    json: { source_branch, target_branch: 'main', title: `Of ${source_branch}`, ...rest },
    ...(as !== undefined && { as }),
  });
  assert.equal(reply.status, 201, reply.text);
  return reply.body;
};

/** Creates a branch as `seedBranch` does, and opens a merge request from it. */
export const openFromBranch = async (
  gantry: TestService,
  project: { id: number },
  branch: string,
  attributes: Parameters<typeof openRequest>[3] = {},
): Promise<Request> => {
  await seedBranch(gantry, project, branch);
  return await openRequest(gantry, project, branch, attributes);
};

export const toPath = ({ project_id, iid }: Request): string =>
  `/projects/${project_id}/merge_requests/${iid}`;

export const merge = async (
  gantry: TestService,
  request: Request,
  json: object = {},
  as?: string,
): Promise<Reply> =>
  await gantry.api(`PUT ${toPath(request)}/merge`, { json, ...(as !== undefined && { as }) });

export const readRequest = async (gantry: TestService, request: Request): Promise<Request> =>
  (await gantry.api(`GET ${toPath(request)}`)).body;

/** Bodies of system notes, oldest first. */
export const systemNotes = async (gantry: TestService, request: Request): Promise<string[]> => {
  const { body } = await gantry.api(`GET ${toPath(request)}/notes?sort=asc&order_by=created_at&per_page=100`);
  return (body as { id: number; system: boolean; body: string }[])
    .filter(({ system }) => system)
    .toSorted((a, b) => a.id - b.id)
    .map((note) => note.body);
};

/** Waits until the merge status of an open request is stored, as after a push to its target. */
export const waitForCheck = async (
  { service }: TestService,
  { project_id, iid }: { project_id: number; iid: number },
): Promise<void> => {
  for (let tries = 0; tries < 1_500; tries += 1) {
    const row = await service.platform.store.db
      .selectFrom('merge_requests')
      .select('merge_status')
      .where('project_id', '=', project_id)
      .where('iid', '=', iid)
      .executeTakeFirstOrThrow();
    if (row.merge_status !== 'unchecked') return;
    await wait(20);
  }
  throw new Error(`!${iid} is not checked`);
};

/** Waits until the background work of pushes is done. */
export const settle = async (gantry: TestService): Promise<void> => await gantry.service.worker.drain();
