/** A project with some thousand issues of which most have the same label, and every way to list them. */
import { foldCase } from '../../src/platform/unicode.ts';
import { seedMember, seedProject, seedUser, setIids, unique } from '../support/seed.ts';
import type { TestService } from '../support/service.ts';

const issues = 3000;
const overdue = 100;

export type Skewed = {
  project: { id: number; full_path: string };
  /** Its path. */
  group: string;
  user: { id: number; token: string };
  labels: { id: number; title: string }[];
  milestone_id: number;
  /** The highest iid of issues and merge requests that exist already. */
  lastIid: number;
};

export const makeSkewed = async (gantry: TestService): Promise<Skewed> => {
  const group = unique('skewed');
  const made = await gantry.api('POST /groups', { json: { name: group, path: group } });
  const project = await seedProject(gantry, { namespace: made.body.id, visibility: 'private' });
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 30 });
  const labels = [];
  for (const name of ['common', 'rare']) {
    const json = { name, color: '#fff' };
    const { body } = await gantry.api(`POST /projects/${project.id}/labels`, { json });
    labels.push({ id: Number(body.id), title: name });
  }
  const milestone = await gantry.api(`POST /projects/${project.id}/milestones`, { json: { title: 'v1' } });
  const skewed = { project, group, user, labels, milestone_id: Number(milestone.body.id), lastIid: 0 };
  await fillIssues(gantry, skewed);
  return skewed;
};

/** In few large statements: that is not what is measured. */
export const fillIssues = async (
  gantry: TestService,
  { project, user, labels, milestone_id, lastIid }: Skewed,
): Promise<void> => {
  await gantry.service.platform.store.write(async ({ db, now }) => {
    const rows = Array.from({ length: issues }, (_, at) => ({
      project_id: project.id,
      iid: lastIid + at + 1,
      title: `Issue ${at}`,
      description: at % 100 === 0 ? 'needle' : 'hay',
      state: at % 5 === 0 ? ('opened' as const) : ('closed' as const),
      author_id: at % 50 === 0 ? user.id : 1,
      milestone_id: at % 20 === 0 ? milestone_id : null,
      confidential: at % 10 === 0 ? (1 as const) : (0 as const),
      // The oldest: a list that begins with the newest would pass over all others.
      due_date: at >= issues - overdue ? '2001-01-01' : null,
      moved_to_id: null,
      closed_at: null,
      closed_by_id: null,
      created_at: now - at * 1000,
      updated_at: now - at * 500,
      deleted_at: null,
    }));
    for (let from = 0; from < issues; from += 500) {
      const part = rows.slice(from, from + 500);
      const ids = await db
        .insertInto('issues')
        .values(part)
        .returning(['id', 'iid', 'created_at', 'title'])
        .execute();
      const links = ids.flatMap(({ id, iid, created_at }) =>
        labels
          .filter(({ title }) => (title === 'common' ? iid % 10 !== 0 : iid % 500 === 0))
          .map((label) => ({
            target_type: 'Issue' as const,
            target_id: id,
            label_id: label.id,
            target_created_at: created_at,
          })),
      );
      await db.insertInto('label_links').values(links).execute();
      const assigned = ids.filter(({ iid }) => iid % 40 === 0);
      const rest = (one: (typeof ids)[number]) => ({ target_id: one.id, target_created_at: one.created_at });
      const fixed = { target_type: 'Issue' as const, user_id: user.id, position: 0 };
      await db
        .insertInto('assignees')
        .values(assigned.map((one) => ({ ...fixed, ...rest(one) })))
        .execute();
      const texts = ids.map(({ id, title, iid }) => ({
        issue_id: id,
        title: foldCase(title),
        description: iid % 100 === 1 ? 'needle' : 'hay',
      }));
      await db.insertInto('issue_search').values(texts).execute();
    }
    await setIids(db, project.id, { issue: lastIid + issues });
  });
};

const filters = [
  '',
  'state=opened',
  'state=closed&sort=asc',
  'order_by=updated_at',
  'state=opened&order_by=updated_at&sort=asc',
  'order_by=relative_position',
  'state=opened&order_by=relative_position&sort=asc',
  'labels=common&state=opened&order_by=relative_position&sort=asc',
  'order_by=priority&sort=asc',
  'state=opened&order_by=priority',
  'order_by=label_priority&sort=asc',
  'order_by=milestone_due&sort=asc',
  'state=opened&order_by=milestone_due',
  'order_by=popularity',
  'state=opened&order_by=popularity&sort=asc',
  'order_by=title&sort=asc',
  'state=opened&order_by=title',
  'labels=common&state=closed&order_by=title',
  'order_by=due_date&sort=asc',
  'state=opened&order_by=due_date',
  'due_date=overdue&state=closed&order_by=due_date',
  'labels=common',
  'labels=rare',
  'labels=common,rare',
  'labels=None',
  'milestone=v1',
  'milestone=%23upcoming',
  'author_id=USER',
  'assignee_id=USER',
  'assignee_id=None',
  'my_reaction_emoji=thumbsup',
  'iids[]=1&iids[]=2',
  'search=needle',
  'created_after=2020-01-01&created_before=2100-01-01',
  'closed_after=2020-01-01',
  'or[labels]=common,rare',
  'or[labels]=rare,needle',
  'or[author_username]=root,nobody',
  'due_date=overdue',
  'page=30',
];

export const listsOf = ({ project, group, user }: Skewed): string[] => {
  const places = [`/projects/${project.id}/issues?`, `/groups/${group}/issues?`, '/issues?scope=all&'];
  const all = places.flatMap((place) =>
    filters.map((filter) => place + filter.replace('USER', String(user.id))),
  );
  return [...all, '/issues?', '/issues?scope=assigned-to-me'];
};
