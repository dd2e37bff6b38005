/** Loads what the page of an issue shows, in a number of statements that does not depend on its comments. */
import { may } from '../../../../../core/access/may.ts';
import { type AwardCounts, countAwards } from '../../../../../planning/awards/count.ts';
import { mayAward } from '../../../../../planning/awards/rules.ts';
import { discussionsJson } from '../../../../../planning/discussions/json.ts';
import { type Discussion, listDiscussions } from '../../../../../planning/discussions/queries.ts';
import { mayResolve } from '../../../../../planning/discussions/resolve_and_reply_rules.ts';
import { type LinkedLabel, linkedLabels } from '../../../../../planning/issuables/lists/linked_labels.ts';
import { listParticipants } from '../../../../../planning/issuables/participants.ts';
import type { LoadedIssue } from '../../../../../planning/issues/find.ts';
import { issueNoun } from '../../../../../planning/issues/noun.ts';
import type { NoteRow } from '../../../../../planning/notes/note_row.ts';
import { mayAdminNote, mayComment } from '../../../../../planning/notes/rules.ts';
import { isSubscribed } from '../../../../../planning/subscriptions/subscribed.ts';
import { findPendingTodo } from '../../../../../planning/todos/queries.ts';
import type { Page } from '../../../../../platform/http/page.ts';
import { pageRequest } from '../../../../../platform/http/page.ts';
import { listClosers } from '../../../../../review/merge_requests/issues/closed_by.ts';
import type { Visit } from '../../../page.ts';
import type { Html } from '../../../parts/html.ts';
import { markdownTexts } from '../../../parts/markdown.ts';

/** Threads and events of one page. */
export const threadsPerPage = 50;

const maxShown = 20;

export type Person = { id: number; name: string; username: string; avatar_url: string | null };

export type ShownNote = {
  id: number;
  body: string;
  author: Person;
  created_at: string;
  updated_at: string;
  system: boolean;
  resolvable: boolean;
  resolved?: boolean;
  resolved_by?: { name: string } | null;
  content: Html;
  mayAdmin: boolean;
};

export type ShownThread = { id: string; notes: ShownNote[] };

export type Closer = { iid: number; title: string; state: string };

/** What the viewer may do with the issue. */
export type Rights = {
  update: boolean;
  admin: boolean;
  comment: boolean;
  award: boolean;
  resolve: boolean;
  move: boolean;
  destroy: boolean;
};

export type IssuePage = {
  loaded: LoadedIssue;
  description: Html;
  threads: ShownThread[];
  /** The page of the timeline, and how many threads and events it has in all. */
  page: number;
  total: number;
  awards: AwardCounts;
  labels: LinkedLabel[];
  participants: Page<Person>;
  closers: Closer[];
  /** null: nobody is signed in. */
  own: { isSubscribed: boolean; hasTodo: boolean } | null;
  rights: Rights;
};

const findRights = (visit: Visit, loaded: LoadedIssue): Rights => {
  const { call } = visit;
  const { project, issue } = loaded;
  const isSignedIn = call.signedIn;
  return {
    update: isSignedIn && issueNoun.mayUpdate(call, loaded),
    admin: isSignedIn && may(call.viewer, 'admin_issue', project),
    comment: isSignedIn && mayComment(call, loaded),
    award: isSignedIn && mayAward(call, loaded),
    resolve: isSignedIn && mayResolve(call, loaded),
    move: isSignedIn && may(call.viewer, 'move_issue', project) && issue.moved_to_id === null,
    destroy: isSignedIn && may(call.viewer, 'destroy_issue', project),
  };
};

/** Lists a page of the timeline; by default the last one, which has the newest comments. */
const loadTimeline = async (
  { call }: Visit,
  { target }: LoadedIssue,
  requested: number | undefined,
): Promise<{ items: Discussion[]; total: number; page: number }> => {
  const read = async (page: number) =>
    await listDiscussions(call, target, pageRequest({ page, per_page: threadsPerPage }));
  const page = Math.max(requested ?? 1, 1);
  const first = await read(page);
  const last = Math.max(Math.ceil(first.total / threadsPerPage), 1);
  if (requested !== undefined || last === 1) return { ...first, page };
  return { ...(await read(last)), page: last };
};

/** Renders the description and the comments together: references take a few queries for all. */
const renderTexts = async (visit: Visit, loaded: LoadedIssue, items: Discussion[]) => {
  const { call } = visit;
  const { project, target, issue } = loaded;
  const threads = await discussionsJson(call, target, items);
  const rows = new Map<number, NoteRow>(items.flatMap(({ notes }) => notes.map((note) => [note.id, note])));
  const bodies = threads.flatMap(({ notes }) => notes.map(({ body }) => body));
  const [description, ...contents] = await markdownTexts(call, [issue.description ?? '', ...bodies], {
    project,
  });
  let at = 0;
  const shown = threads.map(({ id, notes }) => ({
    id,
    notes: notes.map((note): ShownNote => {
      const content = contents[at++];
      const row = rows.get(note.id);
      const mayAdmin = call.signedIn && row !== undefined && mayAdminNote(call, loaded, row);
      return { ...(note as Omit<ShownNote, 'content' | 'mayAdmin'>), content: content as Html, mayAdmin };
    }),
  }));
  return { description: description as Html, threads: shown.filter(({ notes }) => notes.length > 0) };
};

const loadOwn = async ({ call }: Visit, { target }: LoadedIssue): Promise<IssuePage['own']> => {
  if (call.actor === null) return null;
  const userId = call.actor.user.id;
  const [isFollowing, todo] = await Promise.all([
    isSubscribed(call.db, userId, target),
    findPendingTodo(call, target),
  ]);
  return { isSubscribed: isFollowing, hasTodo: todo !== undefined };
};

/** @param requested page of the timeline; undefined: the last */
export const loadIssuePage = async (
  visit: Visit,
  loaded: LoadedIssue,
  requested: number | undefined,
): Promise<IssuePage> => {
  const { call } = visit;
  const { target } = loaded;
  const { items, total, page } = await loadTimeline(visit, loaded, requested);
  const noteIds = items.flatMap(({ notes }) => notes.map(({ id }) => id));
  const some = pageRequest({ per_page: maxShown });
  const [texts, awards, labels, participants, closers, own] = await Promise.all([
    renderTexts(visit, loaded, items),
    countAwards(call, target, noteIds),
    linkedLabels(call.db, 'Issue', [target.id]),
    listParticipants(call, loaded, some),
    listClosers(call, loaded, some),
    loadOwn(visit, loaded),
  ]);
  return {
    loaded,
    ...texts,
    page,
    total,
    awards,
    labels: labels.get(target.id) ?? [],
    participants,
    closers: closers.items.map(({ bytes }) => JSON.parse(bytes.toString('utf8')) as Closer),
    own,
    rights: findRights(visit, loaded),
  };
};
