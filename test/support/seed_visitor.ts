/** Users with a password, signed in to the pages. */
import { randomBytes } from 'node:crypto';
import { startSession } from '../../src/identity/sessions/start_session.ts';
import { type UserSeed, seedMember, seedUser } from './seed.ts';
import type { TestService } from './service.ts';
import { type Visitor, openVisitor } from './visitor.ts';

export type SeededVisitor = { id: number; username: string; visitor: Visitor };

export type VisitorSeed = Omit<UserSeed, 'password' | 'scopes'> & {
  /** Id of a project or of a group that the user is a member of. */
  project?: number;
  group?: number;
  access_level?: number | null;
};

/** The password of every seeded visitor. */
const password = 'correct horse';

/** @param attributes the place and the role of a member; without a role, the user is no member */
export const seedVisitor = async (
  gantry: TestService,
  attributes: VisitorSeed = {},
): Promise<SeededVisitor> => {
  const { project, group, access_level, ...user } = attributes;
  const { id, username } = await seedUser(gantry, { ...user, password, scopes: [] });
  if (access_level !== undefined && access_level !== null) {
    const place = project === undefined ? { group: group ?? 0 } : { project };
    await seedMember(gantry, { user: id, access_level, ...place });
  }
  const source = { ip: '127.0.0.1', userAgent: 'test' };
  const { store } = gantry.service.platform;
  const session = { user_id: id, provider: null, source, replaced: null };
  const secret = await startSession({ store, random: randomBytes }, session);
  return { id, username, visitor: openVisitor(gantry, secret) };
};
