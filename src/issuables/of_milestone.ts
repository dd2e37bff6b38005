/** The lists of what is on one milestone, of a project or of a group. */
import type { TSchema } from 'typebox';
import { type Call, endpoint } from '../access/call.ts';
import { findGroup } from '../groups/find.ts';
import type { JsonText } from '../http/endpoint.ts';
import { type Page, type PageRequest, pageParams, pageRequest } from '../http/page.ts';
import { id, idOrPath, object } from '../http/schema.ts';
import { findMilestone } from '../milestones/queries.ts';
import { findProjectFor } from '../projects/find.ts';
import type { Scope } from './list.ts';
import type { TextsOf } from './texts.ts';

/** Nothing but the milestone selects; the newest come first. */
const plain = { scope: 'all', state: 'all', order_by: 'created_at', sort: 'desc' } as const;

type OnMilestone = typeof plain & { milestone_id: number };

/** What is listed: issues or merge requests. */
type Kind = {
  area: 'issues' | 'merge_requests';
  /** Of a summary. */
  title: string;
  shape: TSchema;
  texts: TextsOf;
  list: (query: {
    call: Call;
    scope: Scope;
    filters: OnMilestone;
    page: PageRequest;
    texts: TextsOf;
  }) => Promise<Page<JsonText>>;
};

type Wanted = { id: number | string; milestone_id: number };
type Found = { scope: Scope; filters: OnMilestone };

/** The caller must be allowed to read the project's milestones. */
const ofProject = async (call: Call, wanted: Wanted): Promise<Found> => {
  const project = await findProjectFor(call, wanted.id, 'read_milestone');
  const owner = { kind: 'projects' as const, id: project.id, namespace_id: project.namespace_id };
  const { id: milestone_id } = await findMilestone(call.db, owner, wanted.milestone_id);
  return { scope: { project }, filters: { ...plain, milestone_id } };
};

const ofGroup = async (call: Call, wanted: Wanted): Promise<Found> => {
  const { id: group_id } = await findGroup(call, wanted.id);
  const owner = { kind: 'groups' as const, id: group_id, namespace_id: group_id };
  const { id: milestone_id } = await findMilestone(call.db, owner, wanted.milestone_id);
  return { scope: { group_id }, filters: { ...plain, milestone_id } };
};

const sides = [
  { path: '/projects', word: 'project', place: 'a project', find: ofProject },
  { path: '/groups', word: 'group', place: 'a group, of all groups below it', find: ofGroup },
];

export const milestoneLists = ({ area, title, shape, texts, list }: Kind) =>
  sides.map(({ path, word, place, find }) =>
    endpoint({
      method: 'GET',
      path: `${path}/:id/milestones/:milestone_id/${area}`,
      summary: `${title} on a milestone of ${place}`,
      area,
      audience: 'user',
      list: true,
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
