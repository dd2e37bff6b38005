/** Which emoji are valid awards, and who may award them. */
import type { Call } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import { notFound } from '../../platform/errors.ts';
import { isLockedFor } from '../issuables/locked_discussion.ts';
import type { LoadedNoteable } from '../issuables/target.ts';

const namePattern = /^[a-z0-9_+-]{1,255}$/;
const aliases = new Map([
  ['+1', 'thumbsup'],
  ['-1', 'thumbsdown'],
]);

/**
 * Normalizes the name of an emoji: `+1` is stored as `thumbsup`.
 * @throws Failure 404, as for every refused award
 */
export const normalizeAwardName = (name: string): string => {
  if (!namePattern.test(name)) throw notFound('Award Emoji Name is not a valid emoji name');
  return aliases.get(name) ?? name;
};

export const mayAward = ({ viewer }: Pick<Call, 'viewer'>, loaded: LoadedNoteable): boolean =>
  may(viewer, 'award_emoji', loaded.project) && !isLockedFor(viewer, loaded);
