/** The change log for clients: the pull form of webhooks. It names what changed; the usual endpoints say how. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { findGroup } from '../../identity/groups/find.ts';
import { array, boolean, idOrPath, int, integer, object, optional } from '../../platform/http/schema.ts';
import { findProject } from '../../projects/projects/find.ts';
import { followChanges, waitForChanges } from './follow_changes.ts';
import { requireKept } from './prune_changes.ts';
import { type ChangeFilter, changeShape, listChanges } from './list_changes.ts';

/** The header counts: a browser that reconnects sends the first address again. */
const readAfter = (call: Call, after: number | undefined): number | null => {
  const header = call.header('last-event-id');
  if (header !== undefined && /^\d{1,15}$/.test(header)) return Number(header);
  return after ?? null;
};

const acceptsEvents = (call: Call): boolean => call.header('accept')?.includes('text/event-stream') === true;

type SentFilter = {
  project_id?: number | string;
  group_id?: number | string;
  membership?: boolean;
};

/** @throws Failure 404 for a project or group that the caller does not see */
const findFilter = async (
  call: Call,
  { project_id, group_id, membership }: SentFilter,
): Promise<ChangeFilter> => ({
  project_id: project_id === undefined ? undefined : (await findProject(call, project_id)).id,
  group_id: group_id === undefined ? undefined : (await findGroup(call, group_id)).id,
  membership,
});

const list = endpoint({
  method: 'GET',
  path: '/changes',
  summary: 'List changes in visible projects, or stream them with `Accept: text/event-stream`',
  area: 'changes',
  audience: 'user',
  refusals: [404],
  params: object({
    after: optional(
      integer({ minimum: 0, description: 'only changes after this sequence number; default: from now on' }),
    ),
    wait: {
      ...integer({ minimum: 0, maximum: 60, description: 'seconds to wait for a change' }),
      default: 0,
    },
    per_page: {
      ...integer({ minimum: 1, maximum: 100, description: 'maximum number of changes' }),
      default: 100,
    },
    project_id: optional(idOrPath('only changes of this project: id or full path')),
    group_id: optional(
      idOrPath('only changes of projects of this group and the groups below it: id or full path'),
    ),
    membership: optional(
      boolean({ description: 'only changes of projects of which the caller is a member' }),
    ),
  }),
  refusesUnknownParams: true,
  reply: object({ changes: array(changeShape), next_after: int }),
  handle: async (call, { after: sent, wait, per_page, ...sentFilter }) => {
    const after = readAfter(call, sent);
    const filter = await findFilter(call, sentFilter);
    if (acceptsEvents(call)) {
      // A stream that has begun could not say why it ends.
      await requireKept(call.db, after);
      return followChanges(call, after, filter);
    }
    const request = { after, limit: per_page, filter };
    return wait > 0 ? await waitForChanges(call, request, wait) : await listChanges(call, request);
  },
});

export const changeRoutes = [list];
