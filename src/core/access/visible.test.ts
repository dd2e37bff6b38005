/** Compares both forms of the visibility rule over random worlds: SQL selects exactly what the predicate admits. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { seedGroup, seedIssue, seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { memberLevels } from './levels.ts';
import { type Viewer, anonymous, loadViewer } from './viewer.ts';
import { loadProjectViewers } from './project_viewers.ts';
import {
  canSeeIssue,
  canSeeProject,
  hasFeature,
  visibleIssues,
  visibleIssuesIn,
  visibleProjects,
} from './visible.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const visibility = fc.constantFrom('private', 'internal', 'public');
// The difference between guest and reporter decides on confidential issues.
const level = fc.constantFrom(10, 10, 20, ...memberLevels);
const index = (length: number) => fc.nat({ max: length - 1 });
const flag = fc.constantFrom(0 as const, 1 as const);

const users = 5;
const groups = 3;
const projects = 4;

const world = fc.record({
  users: fc.array(fc.record({ admin: fc.constantFrom(0, 0, 0, 1), external: flag }), {
    minLength: users,
    maxLength: users,
  }),
  groups: fc.array(fc.record({ visibility, parent: fc.option(index(groups)) }), {
    minLength: groups,
    maxLength: groups,
  }),
  projects: fc.array(
    fc.record({
      visibility,
      place: fc.oneof(fc.record({ group: index(groups) }), fc.record({ owner: index(users) })),
      issues: fc.constantFrom('enabled', 'enabled', 'private', 'disabled'),
    }),
    { minLength: projects, maxLength: projects },
  ),
  members: fc.array(
    fc.record({
      user: index(users),
      source: fc.oneof(fc.record({ group: index(groups) }), fc.record({ project: index(projects) })),
      level,
    }),
    { minLength: 8, maxLength: 20 },
  ),
  shares: fc.array(
    fc.record({
      source: fc.oneof(fc.record({ group: index(groups) }), fc.record({ project: index(projects) })),
      group: index(groups),
      level,
      expires_at: fc.constantFrom(null, null, '2000-01-01', '2100-01-01'),
    }),
    { maxLength: 6 },
  ),
  issues: fc.array(
    fc.record({
      project: index(projects),
      author: index(users),
      assignees: fc.uniqueArray(index(users), { maxLength: 2 }),
      confidential: fc.constantFrom(0 as const, 1 as const, 1 as const),
      deleted: fc.constantFrom(false, false, false, true),
    }),
    { minLength: 15, maxLength: 30 },
  ),
});

type World = typeof world extends fc.Arbitrary<infer W> ? W : never;

/** Builds each world from new records only, so that worlds do not overlap. */
const build = async (plan: World) => {
  const userIds: number[] = [];
  for (const user of plan.users) userIds.push((await seedUser(gantry, user)).id);
  const groupIds: number[] = [];
  for (const [at, group] of plan.groups.entries()) {
    const parent = group.parent === null || group.parent >= at ? undefined : groupIds[group.parent];
    const attributes = { visibility: group.visibility as never, ...(parent !== undefined && { parent }) };
    groupIds.push((await seedGroup(gantry, attributes)).id);
  }
  const projectIds: number[] = [];
  for (const { visibility: seen, place, issues } of plan.projects) {
    const where = 'group' in place ? { namespace: groupIds[place.group] } : { owner: userIds[place.owner] };
    const attributes = { visibility: seen, issues_access_level: issues, ...where };
    projectIds.push((await seedProject(gantry, attributes as never)).id);
  }
  const taken = new Set<string>();
  for (const member of plan.members) {
    const key = `${member.user} ${JSON.stringify(member.source)}`;
    if (taken.has(key)) continue;
    taken.add(key);
    const source =
      'group' in member.source
        ? { group: groupIds[member.source.group] }
        : { project: projectIds[member.source.project] };
    await seedMember(gantry, { user: userIds[member.user], access_level: member.level, ...source } as never);
  }
  const { store } = gantry.service.platform;
  for (const { source, group, level: group_access, expires_at } of plan.shares) {
    const [source_type, source_id] =
      'group' in source
        ? (['Namespace', groupIds[source.group]] as const)
        : (['Project', projectIds[source.project]] as const);
    const row = { source_type, source_id: source_id ?? 0, group_id: groupIds[group] ?? 0 };
    await store.write(
      async ({ db, now }) =>
        await db
          .insertInto('group_links')
          .values({ ...row, group_access, expires_at, created_at: now })
          .onConflict((clash) => clash.doNothing())
          .execute(),
    );
  }
  const issueIds: number[] = [];
  for (const issue of plan.issues) {
    const made = await seedIssue(gantry, {
      ...issue,
      project: projectIds[issue.project] ?? 0,
      author: userIds[issue.author] ?? 0,
      assignees: issue.assignees.map((one) => userIds[one] ?? 0),
    });
    issueIds.push(made.id);
  }
  return { userIds, projectIds, issueIds };
};

type Built = Awaited<ReturnType<typeof build>>;

const loadWorld = async ({ projectIds, issueIds }: Built) => {
  const { db } = gantry.service.platform.store;
  const all = await db.selectFrom('projects').selectAll().where('id', 'in', projectIds).execute();
  const rows = await db.selectFrom('issues').selectAll().where('id', 'in', issueIds).execute();
  const links = await db.selectFrom('assignees').selectAll().where('target_id', 'in', issueIds).execute();
  const issues = rows.map((row) => ({
    ...row,
    assignee_ids: links.filter((link) => link.target_id === row.id).map((link) => link.user_id),
  }));
  return { projects: new Map(all.map((project) => [project.id, project])), issues };
};

const viewersOf = async ({ userIds }: Built): Promise<Viewer[]> => {
  const { db } = gantry.service.platform.store;
  const rows = await db
    .selectFrom('users')
    .select(['id', 'admin', 'external'])
    .where('id', 'in', userIds)
    .execute();
  return [anonymous, ...(await Promise.all(rows.map((row) => loadViewer(db, row, Date.now()))))];
};

const checkViewer = async (
  viewer: Viewer,
  built: Built,
  { projects: all, issues }: Awaited<ReturnType<typeof loadWorld>>,
) => {
  const { db, dialect } = gantry.service.platform.store;
  const seenProjects = await db
    .selectFrom('projects')
    .select('id')
    .where('id', 'in', built.projectIds)
    .where(visibleProjects(viewer, dialect))
    .execute();
  const expected = [...all.values()].filter((project) => canSeeProject(viewer, project)).map(({ id }) => id);
  assert.deepEqual(seenProjects.map(({ id }) => id).toSorted(byNumber), expected.toSorted(byNumber));

  const seenIssues = await db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select('issues.id')
    .where('issues.id', 'in', built.issueIds)
    .where(visibleIssues(viewer, dialect))
    .execute();
  const admitted = issues.filter((issue) => canSeeIssue(viewer, projectOf(all, issue.project_id), issue));
  assert.deepEqual(
    seenIssues.map(({ id }) => id).toSorted(byNumber),
    admitted.map(({ id }) => id).toSorted(byNumber),
  );
  for (const project of all.values()) {
    if (!canSeeProject(viewer, project) || !hasFeature(viewer, project, 'issues_access_level')) continue;
    const inProject = await db
      .selectFrom('issues')
      .select('issues.id')
      .where(visibleIssuesIn(viewer, project))
      .execute();
    assert.deepEqual(
      inProject.map(({ id }) => id).toSorted(byNumber),
      admitted
        .filter((issue) => issue.project_id === project.id)
        .map(({ id }) => id)
        .toSorted(byNumber),
    );
  }
};

const byNumber = (a: number, b: number): number => a - b;

const projectOf = <P>(all: Map<number, P>, id: number): P => {
  const project = all.get(id);
  assert.ok(project);
  return project;
};

test('SQL selects exactly the projects and issues that the predicate admits', async () => {
  await fc.assert(
    fc.asyncProperty(world, async (plan) => {
      const built = await build(plan);
      const loaded = await loadWorld(built);
      for (const viewer of await viewersOf(built)) await checkViewer(viewer, built, loaded);
    }),
    { numRuns: 15 },
  );
});

test('a viewer loaded for one project decides as the same user signed in', async () => {
  await fc.assert(
    fc.asyncProperty(world, async (plan) => {
      const built = await build(plan);
      const { projects: all, issues } = await loadWorld(built);
      const signedIn = (await viewersOf(built)).filter((viewer) => viewer.user_id !== null);
      for (const project of all.values()) {
        const others = await loadProjectViewers(
          gantry.service.platform.store.db,
          project,
          built.userIds,
          Date.now(),
        );
        for (const viewer of signedIn) {
          const other = others.get(viewer.user_id ?? 0);
          assert.ok(other);
          for (const issue of issues.filter((one) => one.project_id === project.id)) {
            assert.equal(canSeeIssue(other, project, issue), canSeeIssue(viewer, project, issue));
          }
        }
      }
    }),
    { numRuns: 8 },
  );
});
