/** Some thousand merge requests of which most have the same label, and every way to list them. */
import { setIids } from '../support/seed.ts';
import type { TestService } from '../support/service.ts';
import type { Skewed } from './skewed.ts';

const requests = 3000;

const stateAt = (at: number): 'opened' | 'closed' | 'merged' => {
  if (at % 5 === 0) return 'opened';
  return at % 5 === 1 ? 'closed' : 'merged';
};

const none = {
  checked_source_sha: null,
  checked_target_sha: null,
  diff_id: null,
  head_sha: null,
  merge_commit_sha: null,
  squash_commit_sha: null,
  merge_user_id: null,
  should_remove_source_branch: null,
  merge_error: null,
  merged_at: null,
  merged_by_id: null,
  closed_at: null,
  closed_by_id: null,
  deleted_at: null,
};

const rowAt = ({ project, user, milestone_id, lastIid }: Skewed, at: number, now: number) => ({
  ...none,
  project_id: project.id,
  source_project_id: project.id,
  iid: lastIid + at + 1,
  title: at % 30 === 0 ? `WIP: request ${at}` : `Request ${at}`,
  description: null,
  state: stateAt(at),
  source_branch: at % 3 === 0 ? 'develop' : `feature-${at}`,
  // One request may be open from one branch into another.
  target_branch: at % 3 === 0 ? `release-${at}` : 'main',
  author_id: at % 50 === 0 ? user.id : 1,
  milestone_id: at % 20 === 0 ? milestone_id : null,
  merge_status: 'can_be_merged' as const,
  created_at: now - at * 1000,
  updated_at: now - at * 500,
});

/** In few large statements: that is not what is measured. */
export const fillRequests = async (gantry: TestService, skewed: Skewed): Promise<void> => {
  const { project, user, labels } = skewed;
  await gantry.service.platform.store.write(async ({ db, now }) => {
    for (let from = 0; from < requests; from += 250) {
      const rows = Array.from({ length: 250 }, (_none, offset) => rowAt(skewed, from + offset, now));
      const made = await db
        .insertInto('merge_requests')
        .values(rows)
        .returning(['id', 'iid', 'created_at', 'title'])
        .execute();
      const target = (one: (typeof made)[number]) => ({
        target_type: 'MergeRequest' as const,
        target_id: one.id,
        target_created_at: one.created_at,
      });
      const links = made.flatMap((one) =>
        labels
          .filter(({ title }) => (title === 'common' ? one.iid % 10 !== 0 : one.iid % 500 === 0))
          .map(({ id }) => ({ ...target(one), label_id: id })),
      );
      await db.insertInto('label_links').values(links).execute();
      const assigned = made.filter(({ iid }) => iid % 40 === 0);
      await db
        .insertInto('assignees')
        .values(assigned.map((one) => ({ ...target(one), user_id: user.id, position: 0 })))
        .execute();
      const asked = made.filter(({ iid }) => iid % 60 === 0);
      const state = { state: 'unreviewed' as const, created_at: now };
      await db
        .insertInto('reviewers')
        .values(asked.map((one) => ({ ...target(one), ...state, user_id: user.id, position: 0 })))
        .execute();
      const texts = made.map(({ id, iid, title }) => ({
        merge_request_id: id,
        title: title.toLowerCase(),
        description: iid % 100 === 1 ? 'needle' : 'hay',
      }));
      await db.insertInto('merge_request_search').values(texts).execute();
    }
    await setIids(db, project.id, { merge_request: skewed.lastIid + requests });
  });
};

const filters = [
  '',
  'state=opened',
  'state=merged&sort=asc',
  'order_by=updated_at',
  'state=opened&order_by=updated_at&sort=asc',
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
  'order_by=merged_at',
  'state=merged&order_by=merged_at&sort=asc',
  'labels=common',
  'labels=rare',
  'labels=None',
  'milestone=v1',
  'milestone=%23upcoming',
  'author_id=USER',
  'assignee_id=USER',
  'assignee_id=None',
  'reviewer_id=USER',
  'reviewer_id=None',
  'not[reviewer_id]=USER',
  'source_branch=develop',
  'source_branch=feature-1',
  'target_branch=main',
  'target_branch=release-3',
  'wip=yes',
  'draft=false',
  'approved=yes',
  'approved=no',
  'environment=production',
  'deployed_after=2020-01-01',
  'my_reaction_emoji=thumbsup',
  'iids[]=1&iids[]=2',
  'search=needle',
  'created_after=2020-01-01&created_before=2100-01-01',
  'closed_after=2020-01-01',
  'merged_after=2020-01-01',
  'or[labels]=common,rare',
  'or[labels]=rare,needle',
  'or[author_username]=root,nobody',
];

export const requestListsOf = ({ project, group, user }: Skewed): string[] => {
  const places = [
    `/projects/${project.id}/merge_requests?`,
    `/groups/${group}/merge_requests?`,
    '/merge_requests?scope=all&',
  ];
  const all = places.flatMap((place) =>
    filters.map((filter) => place + filter.replace('USER', String(user.id))),
  );
  return [...all, '/merge_requests?', '/merge_requests?scope=assigned-to-me'];
};
