/** Endpoints that list the issues or merge requests of one milestone. */
import type { TSchema } from 'typebox';
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { findGroup } from '../../../identity/groups/find.ts';
import type { JsonText } from '../../../platform/http/endpoint.ts';
import { type Page, type PageRequest, pageParams, pageRequest } from '../../../platform/http/page.ts';
import { id, idOrPath, object } from '../../../platform/http/schema.ts';
import { groupOwner, projectOwner } from '../../../projects/project_or_group/owner.ts';
import { findMilestone } from '../../../projects/milestones/queries.ts';
import { findProjectFor } from '../../../projects/projects/find.ts';
import type { Scope } from './list_kind.ts';
import type { TextLoader } from './json_cache.ts';

/** Nothing but the milestone selects; the newest come first. */
const plain = { scope: 'all', state: 'all', order_by: 'created_at', sort: 'desc' } as const;

type OnMilestone = typeof plain & { milestone_id: number };

/** Listed records: issues or merge requests. */
type Kind = {
  area: 'issues' | 'merge_requests';
  /** Shape of a summary. */
  title: string;
  shape: TSchema;
  texts: TextLoader;
  list: (query: {
    call: Call;
    scope: Scope;
    filters: OnMilestone;
    page: PageRequest;
    texts: TextLoader;
  }) => Promise<Page<JsonText>>;
};

type MilestoneParams = { id: number | string; milestone_id: number };
type MilestoneList = { scope: Scope; filters: OnMilestone };

/** The caller must be allowed to read the project's milestones. */
const ofProject = async (call: Call, requested: MilestoneParams): Promise<MilestoneList> => {
  const project = await findProjectFor(call, requested.id, 'read_milestone');
  const { id: milestone_id } = await findMilestone(call.db, projectOwner(project), requested.milestone_id);
  return { scope: { project }, filters: { ...plain, milestone_id } };
};

const ofGroup = async (call: Call, requested: MilestoneParams): Promise<MilestoneList> => {
  const { id: group_id } = await findGroup(call, requested.id);
  const owner = groupOwner({ id: group_id });
  const { id: milestone_id } = await findMilestone(call.db, owner, requested.milestone_id);
  return { scope: { group_id }, filters: { ...plain, milestone_id } };
};

const sides = [
  { path: '/projects', word: 'project', place: 'a project', find: ofProject },
  { path: '/groups', word: 'group', place: 'a group and its subgroups', find: ofGroup },
];

export const milestoneLists = ({ area, title, shape, texts, list }: Kind) =>
  sides.map(({ path, word, place, find }) =>
    endpoint({
      method: 'GET',
      path: `${path}/:id/milestones/:milestone_id/${area}`,
      summary: `List ${title} on a milestone of ${place}`,
      area,
      audience: 'user',
      list: true,
      cached: true,
      params: object({
        id: idOrPath(word),
        milestone_id: id('id of the milestone, not its iid'),
        ...pageParams,
      }),
      reply: shape,
      handle: async (call, params) =>
        await list({ call, ...(await find(call, params)), page: pageRequest(params), texts }),
    }),
  );
