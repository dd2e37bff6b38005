/** Lists the broadcast messages that a viewer sees. */
import type { Call } from '../../../core/access/call.ts';
import type { Viewer } from '../../../core/access/viewer.ts';
import { matchesWildcard } from '../../../platform/wildcard.ts';
import { listActive } from './active_messages.ts';
import type { BroadcastMessage } from './queries.ts';

/** Returns whether the viewer has one of the roles that a message addresses anywhere. */
const hasRole = ({ target_access_levels: levels }: BroadcastMessage, viewer: Viewer): boolean =>
  levels.length === 0 ||
  viewer.admin ||
  [...viewer.projectLevels.values(), ...viewer.namespaceLevels.values()].some((level) =>
    levels.includes(level),
  );

/** Lists the messages that address the caller now. */
export const listAddressed = async (
  call: Pick<Call, 'platform' | 'now' | 'viewer'>,
): Promise<BroadcastMessage[]> => {
  const active = await listActive(call);
  return active.filter((message) => hasRole(message, call.viewer));
};

/** Lists the messages that address the caller on a page. @param path path of the page, without the query */
export const listOnPage = async (
  call: Pick<Call, 'platform' | 'now' | 'viewer'>,
  path: string,
): Promise<BroadcastMessage[]> => {
  const addressed = await listAddressed(call);
  return addressed.filter(
    ({ target_path: pattern }) => pattern === null || matchesWildcard(`/${pattern.replace(/^\//, '')}`, path),
  );
};
