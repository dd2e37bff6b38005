/** The lists of what is on one milestone, of a project or of a group. */
import { sql } from 'kysely';
import type { Call } from '../access/call.ts';
import { findGroup } from '../groups/find.ts';
import { pageParams } from '../http/page.ts';
import { id, idOrPath, object } from '../http/schema.ts';
import { findMilestone } from '../milestones/queries.ts';
import { findProjectFor } from '../projects/find.ts';
import type { Filters } from './filters.ts';
import type { Scope } from './list.ts';
import type { Listed } from './listed.ts';
import type { Measured } from './named.ts';

const milestone_id = id('id of the milestone, not its iid');

export const ofMilestoneParams = {
  projects: object({ id: idOrPath('project'), milestone_id, ...pageParams }),
  groups: object({ id: idOrPath('group'), milestone_id, ...pageParams }),
};

/** Nothing but the milestone selects; the newest come first. */
const plain = { scope: 'all', state: 'all', order_by: 'created_at', sort: 'desc' } as const;

type Wanted = { id: number | string; milestone_id: number };
type Found = { scope: Scope; filters: typeof plain & { milestone_id: number } };

/** Failure 404, 403: the caller must be allowed to read the project's milestones. */
export const ofProjectMilestone = async (call: Call, wanted: Wanted): Promise<Found> => {
  const project = await findProjectFor(call, wanted.id, 'read_milestone');
  const owner = { kind: 'projects' as const, id: project.id, namespace_id: project.namespace_id };
  const found = await findMilestone(call.db, owner, wanted.milestone_id);
  return { scope: { project }, filters: { ...plain, milestone_id: found.id } };
};

/** Failure 404. */
export const ofGroupMilestone = async (call: Call, wanted: Wanted): Promise<Found> => {
  const group = await findGroup(call, wanted.id);
  const owner = { kind: 'groups' as const, id: group.id, namespace_id: group.id };
  const found = await findMilestone(call.db, owner, wanted.milestone_id);
  return { scope: { group_id: group.id }, filters: { ...plain, milestone_id: found.id } };
};

/** What is on the milestone that a list is of: few of all, mostly. */
export const onMilestone = (kind: Pick<Listed, 'table'>, { milestone_id: on }: Filters): Measured[] =>
  on === undefined
    ? []
    : [
        {
          name: 'on milestone',
          condition: sql<boolean>`${sql.ref(`${kind.table}.milestone_id`)} = ${on}`,
          index: `${kind.table}_milestone`,
        },
      ];
