import { type Call, requireUser } from '../../../core/access/call.ts';
import { int, nullable, object, string, timestamp } from '../../../platform/http/schema.ts';
import { formatTime, formatTimeOrNull } from '../../../platform/time.ts';
import { basicUser, basicUserShape, basicUsersById } from '../../../identity/users/json.ts';
import { type Trigger, unsealToken } from './find_and_change_triggers.ts';

export const triggerShape = object({
  id: int,
  description: string,
  created_at: timestamp,
  updated_at: timestamp,
  deleted_at: nullable(timestamp),
  last_used: nullable(timestamp),
  token: string,
  owner: nullable(basicUserShape),
});

const visiblePrefixLength = 4;

/** Returns the whole token to its owner, and to others only the first four characters after its type prefix. */
const toVisibleToken = (call: Call, trigger: Trigger): string => {
  const token = unsealToken(call.platform, trigger);
  if (trigger.owner_id === requireUser(call).id) return token;
  return token.slice(token.indexOf('-') + 1).slice(0, visiblePrefixLength);
};

export const triggersJson = async (call: Call, triggers: readonly Trigger[]) => {
  const owners = await basicUsersById(
    call.db,
    triggers.map(({ owner_id }) => owner_id),
  );
  return triggers.map((trigger) => {
    const owner = owners.get(trigger.owner_id);
    return {
      id: trigger.id,
      description: trigger.description,
      created_at: formatTime(trigger.created_at),
      updated_at: formatTime(trigger.updated_at),
      deleted_at: null,
      last_used: formatTimeOrNull(trigger.last_used_at),
      token: toVisibleToken(call, trigger),
      owner: owner === undefined ? null : basicUser(owner, call),
    };
  });
};
