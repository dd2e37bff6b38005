/** Finds the users who made commits. */
import type { Call } from '../../../core/access/call.ts';
import { loadProjectViewers } from '../../../core/access/project_viewers.ts';
import { getMemberLevel } from '../../../core/access/viewer.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { Project } from '../../../projects/projects/find.ts';

export type Author = {
  id: number;
  username: string;
  name: string;
  email: string;
  avatar: string | null;
  isMember: boolean;
};

const selectAuthors = (db: Reader) =>
  db
    .selectFrom('users')
    .select(['id', 'username', 'name', 'email', 'avatar', 'public_email'])
    .where('email_unchecked', '=', 0);

const authorByEmail = compiled((db, { email }: { email: string }) =>
  selectAuthors(db)
    .where((is) => is.fn<string>('lower', ['email']), '=', email)
    .compile(),
);

/** Loads users by their addresses in lower case; by one, as most pages do, without building the query. */
const loadUsers = async (db: Reader, [email = '', ...others]: readonly string[]) =>
  others.length === 0
    ? await authorByEmail(db, { email })
    : await selectAuthors(db)
        .where((is) => is.fn<string>('lower', ['email']), 'in', [email, ...others])
        .execute();

/**
 * Finds users by the addresses of commits, with few statements; the keys are in lower case. Commits can name any
 * address, so only members and users with a public address are found.
 */
export const loadAuthors = async (
  { db, now }: Pick<Call, 'db' | 'now'>,
  project: Project,
  emails: readonly string[],
): Promise<Map<string, Author>> => {
  const lower = [...new Set(emails.map((email) => email.toLowerCase()))];
  if (lower.length === 0) return new Map();
  const users = await loadUsers(db, lower);
  if (users.length === 0) return new Map();
  const viewers = await loadProjectViewers(
    db,
    project,
    users.map(({ id }) => id),
    now,
  );
  return new Map(
    users.flatMap(({ public_email, ...user }) => {
      const viewer = viewers.get(user.id);
      const isMember = viewer !== undefined && getMemberLevel(viewer, project) > 0;
      return isMember || public_email === user.email
        ? [[user.email.toLowerCase(), { ...user, isMember }] as const]
        : [];
    }),
  );
};
