/** The visibility rule as a predicate and as SQL: both agree for every viewer and snippet. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { type Viewer, anonymous, loadViewer } from '../../core/access/viewer.ts';
import { canSeeSnippet, visibleSnippets } from './visible.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

test('the SQL selects exactly what the predicate accepts', async () => {
  const { store, clock } = gantry.service.platform;
  const people = [
    { ...(await seedUser(gantry)), admin: 0, external: 0 },
    { ...(await seedUser(gantry)), admin: 0, external: 0 },
    { ...(await seedUser(gantry, { external: 1 })), admin: 0, external: 1 },
    { ...(await seedUser(gantry, { external: 1 })), admin: 0, external: 1 },
    { ...(await seedUser(gantry, { admin: 1 })), admin: 1, external: 0 },
  ];
  const project = await seedProject(gantry);
  await seedMember(gantry, { user: people[0]?.id ?? 0, project: project.id, access_level: 10 });
  await seedMember(gantry, { user: people[2]?.id ?? 0, project: project.id, access_level: 20 });
  const homes = [null, project];
  await store.write(async (tx) => {
    const rows = homes.flatMap((home) =>
      (['private', 'internal', 'public'] as const).flatMap((visibility) =>
        people.map(({ id }) => ({
          project_id: home?.id ?? null,
          author_id: id,
          visibility,
          title: 't',
          file_name: '',
          description: null,
          content: 'c',
          user_agent: '',
          ip_address: '',
          created_at: tx.now,
          updated_at: tx.now,
        })),
      ),
    );
    await tx.db.insertInto('snippets').values(rows).execute();
  });
  const viewers: Viewer[] = [anonymous];
  for (const person of people) viewers.push(await loadViewer(store.db, person, clock.now()));
  for (const home of homes) {
    const query = store.db.selectFrom('snippets').selectAll();
    const of = await query.where('project_id', home === null ? 'is' : '=', home?.id ?? null).execute();
    assert.equal(of.length, 15);
    for (const viewer of viewers) {
      const found = await query.where(visibleSnippets(viewer, home)).execute();
      const seen = of.filter((one) => canSeeSnippet(viewer, home, one));
      assert.deepEqual(new Set(found.map(({ id }) => id)), new Set(seen.map(({ id }) => id)));
    }
  }
});
