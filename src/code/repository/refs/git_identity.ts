import type { Call } from '../../../core/access/call.ts';
import type { Signature } from '../../../platform/git/protocol_types.ts';

/** Returns the name, email and time that git records for a user, in UTC. `author` overrides name and email. */
export const getGitIdentity = (
  { now }: Call,
  user: { name: string; email: string },
  author: { name?: string | undefined; email?: string | undefined } = {},
): Signature => {
  const pick = (one: string | undefined, fallback: string): string => {
    // oxlint-disable-next-line no-control-regex -- characters that would end the line, or the name, in a commit
    const clean = (text: string): string => text.replace(/[\u0000-\u001f\u007f<>]/g, ' ').trim();
    return clean(one ?? '') || clean(fallback) || 'unknown';
  };
  return {
    name: pick(author.name, user.name),
    email: pick(author.email, user.email),
    time: Math.floor(now / 1_000),
    offset: '+0000',
  };
};
