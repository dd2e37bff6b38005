/** The change log for clients: the pull form of webhooks. It names what changed; the usual endpoints say how. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { array, int, integer, object, optional } from '../../platform/http/schema.ts';
import { followChanges, waitForChanges } from './follow_changes.ts';
import { requireKept } from './prune_changes.ts';
import { changeShape, listChanges } from './list_changes.ts';

/** The header counts: a browser that reconnects sends the first address again. */
const readAfter = (call: Call, after: number | undefined): number | null => {
  const header = call.header('last-event-id');
  if (header !== undefined && /^\d{1,15}$/.test(header)) return Number(header);
  return after ?? null;
};

const acceptsEvents = (call: Call): boolean => call.header('accept')?.includes('text/event-stream') === true;

const list = endpoint({
  method: 'GET',
  path: '/changes',
  summary: 'List changes in visible projects, or stream them with `Accept: text/event-stream`',
  area: 'changes',
  audience: 'user',
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
  }),
  reply: object({ changes: array(changeShape), next_after: int }),
  handle: async (call, { after: sent, wait, per_page }) => {
    const after = readAfter(call, sent);
    if (acceptsEvents(call)) {
      // A stream that has begun could not say why it ends.
      await requireKept(call.db, after);
      return followChanges(call, after);
    }
    return wait > 0
      ? await waitForChanges(call, { after, limit: per_page }, wait)
      : await listChanges(call, after, per_page);
  },
});

export const changeRoutes = [list];
