import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type SeededUser, seedGroup, seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const visibilities = ['private', 'internal', 'public'] as const;
type Visibility = (typeof visibilities)[number];
type Viewer = 'anonymous' | 'external' | 'user' | 'admin';

/** Each group's parent is an earlier group or none; many groups are private. */
const groups = fc.array(fc.record({ parent: fc.nat(99), wide: fc.constantFrom(0, 0, 1, 2) }), {
  minLength: 3,
  maxLength: 9,
});
const worlds = fc.record({
  groups,
  /** The group of each project. */
  projects: fc.array(fc.nat(8), { maxLength: 4 }),
  /** Memberships in groups or projects. */
  inGroups: fc.array(fc.nat(8), { maxLength: 2 }),
  inProjects: fc.array(fc.nat(3), { maxLength: 2 }),
  viewer: fc.constantFrom<Viewer>('anonymous', 'external', 'user', 'user', 'user', 'admin'),
});

type Group = { id: number; parent: number | null; visibility: Visibility };

/** Returns the indexes of a group and of all groups above it. */
const upwards = (all: Group[], index: number): number[] => {
  const parent = all[index]!.parent;
  return parent === null ? [index] : [index, ...upwards(all, parent)];
};

/** The rule, written independently: visible by its level, or through a membership above or below it. */
const sees = (
  all: Group[],
  index: number,
  viewer: Viewer,
  roles: { groups: number[]; projects: number[] },
): boolean => {
  const { visibility } = all[index]!;
  if (viewer === 'admin' || visibility === 'public') return true;
  if (visibility === 'internal' && viewer === 'user') return true;
  const isAbove = (high: number, low: number): boolean => upwards(all, low).includes(high);
  if (roles.groups.some((group) => isAbove(group, index) || isAbove(index, group))) return true;
  return roles.projects.some((group) => isAbove(index, group));
};

const seedGroups = async (wanted: { parent: number; wide: number }[]): Promise<Group[]> => {
  const made: Group[] = [];
  for (const { parent: asked, wide } of wanted) {
    const place = asked % (made.length + 1);
    const parent = place < made.length ? place : null;
    const limit = parent === null ? 2 : visibilities.indexOf(made[parent]!.visibility);
    const visibility = visibilities[Math.min(wide, limit)]!;
    const { id } = await seedGroup(gantry, {
      visibility,
      ...(parent !== null && { parent: made[parent]!.id }),
    });
    made.push({ id, parent, visibility });
  }
  return made;
};

const newViewer = async (viewer: Viewer): Promise<SeededUser | null> => {
  if (viewer === 'anonymous') return null;
  return await seedUser(gantry, {
    external: viewer === 'external' ? 1 : 0,
    admin: viewer === 'admin' ? 1 : 0,
  });
};

test('list, lookup and rule agree on which groups a viewer sees', async () => {
  const property = fc.asyncProperty(worlds, async (world) => {
    const all = await seedGroups(world.groups);
    const user = await newViewer(world.viewer);
    const homes = world.projects.map((home) => home % all.length);
    const projects: number[] = [];
    for (const home of homes) {
      projects.push((await seedProject(gantry, { namespace: all[home]!.id, visibility: 'private' })).id);
    }
    const inGroups = new Set(user === null ? [] : world.inGroups.map((group) => group % all.length));
    const inProjects = new Set(
      user === null ? [] : world.inProjects.filter((project) => project < projects.length),
    );
    for (const group of inGroups)
      await seedMember(gantry, { user: user!.id, group: all[group]!.id, access_level: 10 });
    for (const project of inProjects) {
      await seedMember(gantry, { user: user!.id, project: projects[project]!, access_level: 10 });
    }
    const roles = { groups: [...inGroups], projects: [...inProjects].map((project) => homes[project]!) };
    const expected = all.filter((_, index) => sees(all, index, world.viewer, roles)).map(({ id }) => id);

    const as = user?.token ?? null;
    const found: number[] = [];
    for (const { id } of all) {
      if ((await gantry.api(`GET /groups/${id}?with_projects=false`, { as })).status === 200) found.push(id);
    }
    const own = new Set(all.map(({ id }) => id));
    const query = 'all_available=true&per_page=100&order_by=id&sort=desc';
    const list = await gantry.api(`GET /groups?${query}`, { as });
    const listed = (list.body as { id: number }[]).map(({ id }) => id).filter((id) => own.has(id));
    assert.deepEqual(found, expected);
    assert.deepEqual(listed.toReversed(), expected);
  });
  await fc.assert(property, { numRuns: 12 });
});

test('a membership below makes the groups above visible until it ends', async () => {
  const user = await seedUser(gantry);
  const top = await seedGroup(gantry, { visibility: 'private' });
  const middle = await seedGroup(gantry, { visibility: 'private', parent: top.id });
  const low = await seedGroup(gantry, { visibility: 'private', parent: middle.id });
  const sibling = await seedGroup(gantry, { visibility: 'private', parent: top.id });
  const project = await seedProject(gantry, { visibility: 'private', namespace: low.id });
  const seen = async () => {
    const replies = await Promise.all(
      [top, middle, low, sibling].map(({ id }) => gantry.api(`GET /groups/${id}`, { as: user.token })),
    );
    return replies.map(({ status }) => status);
  };
  assert.deepEqual(await seen(), [404, 404, 404, 404]);
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 10 });
  assert.deepEqual(await seen(), [200, 200, 200, 404]);
  await gantry.api(`DELETE /projects/${project.id}`);
  assert.deepEqual(await seen(), [404, 404, 404, 404]);
  await seedMember(gantry, { user: user.id, group: middle.id, access_level: 10 });
  assert.deepEqual(await seen(), [200, 200, 200, 404]);
});
