/** Users with a password, signed in to the pages. */
import { seedMember, unique } from './seed.ts';
import type { TestService } from './service.ts';
import { type Visitor, openVisitor } from './visitor.ts';

export type SeededVisitor = { id: number; username: string; visitor: Visitor };

/** @param member the project, and the user's role in it; absent: the user is no member */
export const seedVisitor = async (
  gantry: TestService,
  member?: { project: number; access_level: number },
): Promise<SeededVisitor> => {
  const [username, password] = [unique('user'), 'correct horse'];
  const json = { username, name: `Name of ${username}`, email: `${username}@example.com`, password };
  const { body } = await gantry.api('POST /users', { json });
  if (member !== undefined) await seedMember(gantry, { user: body.id, ...member });
  const visitor = openVisitor(gantry);
  await visitor.signIn(username, password);
  await visitor.get('/profile');
  return { id: body.id, username, visitor };
};
