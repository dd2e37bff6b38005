/** Default messages of a merge: the project's templates, or the standard templates, filled. */
import type { Platform } from '../../../core/platform.ts';
import type { Viewer } from '../../../core/access/viewer.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { pageRequest } from '../../../platform/http/page.ts';
import { loadApprovals } from '../approvals/approvals.ts';
import { listReviewers } from '../approvals/reviewers.ts';
import { filterVisible, loadClosingIssues } from '../issues/closing_references.ts';
import type { LoadedMergeRequest } from '../find.ts';
import type { VersionCommit } from '../versions/json.ts';
import { loadVersionCommits } from '../versions/queries.ts';
import { mergeRequestUrl } from '../web_url.ts';
import type { Person } from './merge_commit.ts';
import {
  closingLine,
  defaultMergeTemplate,
  defaultSquashTemplate,
  fillTemplate,
  variablesIn,
} from './message_template.ts';

/** Whose message it is: issues that the merger may not see are not named. */
export type MessageContext = {
  platform: Platform;
  loaded: LoadedMergeRequest;
  merger: Person & { viewer: Viewer };
  baseUrl?: string | undefined;
};

/** Commits, and reviewers, that a template may list. */
const maxListed = 100;

const formatPerson = ({ name, email }: Person): string => `${name} <${email}>`;

const loadPeople = async (db: Reader, ids: readonly number[]): Promise<Person[]> => {
  if (ids.length === 0) return [];
  const rows = await db.selectFrom('users').select(['id', 'name', 'email']).where('id', 'in', ids).execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
};

const listTrailers = (key: string, people: readonly Person[]): string =>
  people.map((person) => `${key}: ${formatPerson(person)}`).join('\n');

/** Oldest first. */
const loadCommits = async (db: Reader, { merge_request }: LoadedMergeRequest): Promise<VersionCommit[]> =>
  merge_request.diff_id === null ? [] : (await loadVersionCommits(db, merge_request.diff_id)).toReversed();

const isMultiline = ({ message }: VersionCommit): boolean => message.trim().includes('\n');

const getBody = (message: string): string => message.trim().split('\n').slice(1).join('\n').trim();

/** Authors of the commits, except the author of the request. */
const coAuthors = (commits: readonly VersionCommit[], author: Person): Person[] => {
  const people = commits.map(({ author_name: name, author_email: email }) => ({ name, email }));
  const byEmail = new Map(people.map((person) => [person.email, person]));
  byEmail.delete(author.email);
  return [...byEmail.values()];
};

type Load = (context: MessageContext) => Promise<string> | string;

/** Template variables with GitLab's names. Loads only the variables that a template uses. */
const variables: Readonly<Record<string, Load>> = {
  source_branch: ({ loaded }) => loaded.merge_request.source_branch,
  target_branch: ({ loaded }) => loaded.merge_request.target_branch,
  title: ({ loaded }) => loaded.merge_request.title,
  description: ({ loaded }) => loaded.merge_request.description ?? '',
  issues: async ({ platform, loaded, merger, baseUrl }) => {
    const { db } = platform.store;
    const issues = await loadClosingIssues(platform, db, loaded, baseUrl);
    return closingLine(loaded.project, await filterVisible(db, merger.viewer, issues));
  },
  reference: ({ loaded: { project, merge_request } }) => `${project.full_path}!${merge_request.iid}`,
  local_reference: ({ loaded }) => `!${loaded.merge_request.iid}`,
  source_project_id: ({ loaded }) => String(loaded.merge_request.source_project_id ?? ''),
  url: ({ platform, loaded: { project, merge_request }, baseUrl }) =>
    mergeRequestUrl(baseUrl ?? platform.config.external_url ?? '', project.full_path, merge_request.iid),
  merged_by: ({ merger }) => formatPerson(merger),
  merge_request_author: ({ loaded }) => formatPerson(loaded.merge_request.author),
  approved_by: async ({ platform: { store }, loaded }) => {
    const approvals = await loadApprovals(store.db, loaded.merge_request.id);
    const ids = approvals.map(({ user_id }) => user_id);
    return listTrailers('Approved-by', await loadPeople(store.db, ids));
  },
  reviewed_by: async ({ platform: { store }, loaded }) => {
    const { items } = await listReviewers(
      store.db,
      loaded.merge_request,
      pageRequest({ per_page: maxListed }),
    );
    const ids = items.filter(({ state }) => state !== 'unreviewed').map(({ user_id }) => user_id);
    return listTrailers('Reviewed-by', await loadPeople(store.db, ids));
  },
  co_authored_by: async ({ platform: { store }, loaded }) =>
    listTrailers(
      'Co-authored-by',
      coAuthors(await loadCommits(store.db, loaded), loaded.merge_request.author),
    ),
  first_commit: async ({ platform: { store }, loaded }) =>
    (await loadCommits(store.db, loaded))[0]?.message.trim() ?? '',
  first_multiline_commit: async ({ platform: { store }, loaded }) =>
    (await loadCommits(store.db, loaded)).find(isMultiline)?.message.trim() ?? loaded.merge_request.title,
  first_multiline_commit_description: async ({ platform: { store }, loaded }) =>
    getBody((await loadCommits(store.db, loaded)).find(isMultiline)?.message ?? ''),
  all_commits: async ({ platform: { store }, loaded }) =>
    (await loadCommits(store.db, loaded))
      .slice(0, maxListed)
      .map(({ message }) => `* ${message.trim()}`)
      .join('\n\n'),
};

const loadMessage = async (template: string, context: MessageContext): Promise<string> => {
  const values = new Map<string, string>();
  for (const name of new Set(variablesIn(template))) {
    if (Object.hasOwn(variables, name)) values.set(name, (await variables[name]?.(context)) ?? '');
  }
  return fillTemplate(template, values);
};

const isBlank = (text: string | null): text is null => text === null || text.trim() === '';

/** A template whose variables are all empty would make a commit without a message. */
const loadTemplated = async (
  template: string | null,
  or: string,
  context: MessageContext,
): Promise<string> => {
  const message = isBlank(template) ? '' : await loadMessage(template, context);
  return message === '' ? await loadMessage(or, context) : message;
};

export const loadMergeMessage = async (context: MessageContext): Promise<string> =>
  await loadTemplated(context.loaded.project.merge_commit_template, defaultMergeTemplate, context);

export const loadSquashMessage = async (context: MessageContext): Promise<string> =>
  await loadTemplated(context.loaded.project.squash_commit_template, defaultSquashTemplate, context);

export type MergeMessages = { merge: string; squash: string };

/** Returns the messages that a form proposes. */
export const loadDefaultMessages = async (context: MessageContext): Promise<MergeMessages> => ({
  merge: await loadMergeMessage(context),
  squash: await loadSquashMessage(context),
});
