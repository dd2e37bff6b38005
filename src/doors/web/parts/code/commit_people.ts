/** Shows who made the commits of a page: users with their avatar and profile, others by the name in the commit. */
import { type Author, loadAuthors } from '../../../../code/repository/commits/load_authors.ts';
import { uploadedAvatarUrl } from '../../../../identity/avatars/avatar_urls.ts';
import type { Signature } from '../../../../platform/git/protocol_types.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';
import { avatar } from '../avatar.ts';
import { type Html, html } from '../html.ts';

type Signed = Pick<Signature, 'name' | 'email'>;

/** The users by their address, in lower case. */
export type CommitPeople = ReadonlyMap<
  string,
  Pick<Author, 'username' | 'name'> & { avatar_url: string | null }
>;

/** For lists that show authors only by the names in their commits. */
export const nobody: CommitPeople = new Map();

/** Loads the users of all commits of a page. Anonymous visitors get none, as by mentions in texts. */
export const loadCommitPeople = async (
  { call }: Visit,
  project: Project,
  signed: readonly Signed[],
): Promise<CommitPeople> => {
  if (!call.signedIn) return nobody;
  const authors = await loadAuthors(
    call,
    project,
    signed.map(({ email }) => email),
  );
  return new Map(
    [...authors].map(([email, author]) => {
      const { username, name } = author;
      return [email, { username, name, avatar_url: uploadedAvatarUrl(call, 'user', author) }];
    }),
  );
};

/** Returns whether another person committed what the author wrote. */
export const hasOtherCommitter = ({ author, committer }: { author: Signed; committer: Signed }): boolean =>
  author.name !== committer.name || author.email.toLowerCase() !== committer.email.toLowerCase();

/** Returns all whom a list of commits names. */
export const listNamed = (commits: readonly { author: Signed; committer: Signed }[]): Signed[] =>
  commits.flatMap((commit) =>
    hasOtherCommitter(commit) ? [commit.author, commit.committer] : [commit.author],
  );

export const authorAvatar = (
  people: CommitPeople,
  { name, email }: Signed,
  size: 'small' | 'medium' = 'small',
): Html => avatar({ name, size, ...people.get(email.toLowerCase()) });

/** Renders the name of an author, of a user as a link to the profile. */
export const authorName = (people: CommitPeople, { name, email }: Signed): Html => {
  const user = people.get(email.toLowerCase());
  return user === undefined ? html`${name}` : html`<a href="/${user.username}">${user.name}</a>`;
};
