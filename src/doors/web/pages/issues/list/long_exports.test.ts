/** Tests exports and calendars of more issues than one read has. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { type SeededProject, seedProject } from '../../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';

const count = 10_050;
/** Issues that an import created at the same time: more than one read has. */
const sameTime = 700;

let gantry: TestService;
let project: SeededProject;
let reporter: SeededVisitor;

/** Creates many issues in one statement; 1,001 have a due date. */
const seedMany = async ({ id }: SeededProject): Promise<void> =>
  await gantry.service.platform.store.write(async ({ db, now }) => {
    const created = sql`${sql.lit(now)} - 100000000 + n / ${sql.lit(sameTime)}`;
    await sql`insert into issues (project_id, iid, title, state, confidential, author_id, due_date, created_at, updated_at)
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(count)})
      select ${sql.lit(id)}, n, 'Seeded', 'opened', 0, 1,
        case when n <= 1001 then '2030-02-03' end, ${created}, ${created} from numbers`.execute(db);
  });

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
  await seedMany(project);
});
after(async () => await gantry.close());

test('a CSV file has every issue once', async () => {
  const { status, text } = await reporter.visitor.get(`/${project.full_path}/issues/export?state=all`);
  assert.equal(status, 200);
  const numbers = text
    .split('\r\n')
    .slice(1, -1)
    .map((line) => Number(line.split(',')[0]));
  assert.equal(numbers.length, count);
  assert.equal(new Set(numbers).size, count);
});

test('a calendar that lacks issues says so', async () => {
  const read = async (query: string): Promise<string> => {
    const { text } = await reporter.visitor.get(`/${project.full_path}/issues${query}`);
    const [, address = ''] = /href="([^"]+\.ics\?[^"]+)"/.exec(text) ?? [];
    const answer = await fetch(gantry.url + address.replaceAll('&amp;', '&'));
    return (await answer.text()).replaceAll('\r\n ', '');
  };
  const cut = await read('');
  assert.equal(cut.split('BEGIN:VEVENT').length - 1, 1_000);
  assert.match(cut, /\r\nX-WR-CALDESC:Has the first 1\\,000 of 1\\,001 issues with a due date\.\r\n/);
  assert.equal(
    (await gantry.api(`PUT /projects/${project.id}/issues/1`, { json: { due_date: '' } })).status,
    200,
  );
  assert.doesNotMatch(await read(''), /X-WR-CALDESC/);
});
