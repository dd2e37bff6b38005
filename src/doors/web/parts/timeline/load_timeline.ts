/** Loads the texts of an issue, a merge request or a snippet, in a number of statements that does not depend on its comments. */
import { may } from '../../../../core/access/may.ts';
import { today } from '../../../../core/access/viewer.ts';
import { type AwardCounts, countAwards } from '../../../../planning/awards/count_awards.ts';
import { mayAward } from '../../../../planning/awards/rules.ts';
import { discussionsJson } from '../../../../planning/discussions/json.ts';
import { type Discussion, listDiscussions } from '../../../../planning/discussions/queries.ts';
import { mayResolve } from '../../../../planning/discussions/resolve_and_reply_rules.ts';
import type { LoadedNoteable } from '../../../../planning/issuables/target.ts';
import type { NoteRow } from '../../../../planning/notes/note_row.ts';
import type { ActivityFilter } from '../../../../planning/notes/queries.ts';
import { mayAdminNote, mayComment } from '../../../../planning/notes/rules.ts';
import { listMembers } from '../../../../projects/members/queries.ts';
import { keepReads } from '../../../../platform/db/keep_until_change.ts';
import { pageRequest } from '../../../../platform/http/page.ts';
import type { Suggestion } from '../../../../planning/notes/suggestions/json.ts';
import { parseSuggestions } from '../../../../planning/notes/suggestions/parse_suggestions.ts';
import type { Visit } from '../../page.ts';
import type { TimelineOrder } from '../../request/preferences.ts';
import type { Html } from '../html.ts';
import { nameRole } from '../projects/role.ts';
import { markdownTexts } from '../markdown.ts';
import { type EditedRecord, type LastEdits, loadLastEdits } from './last_edit.ts';

/** Threads and events of one page. */
export const threadsPerPage = 50;

export type Person = { id: number; name: string; username: string; avatar_url: string | null };

/** The file and line that a diff thread of a merge request refers to. */
export type ShownPosition = {
  old_path: string;
  new_path: string;
  base_sha: string;
  head_sha: string;
  old_line?: number | null;
  new_line?: number | null;
  line_range?: { start: { old_line: number | null; new_line: number | null } } | null;
};

export type ShownNote = {
  id: number;
  body: string;
  author: Person;
  created_at: string;
  updated_at: string;
  system: boolean;
  internal: boolean;
  resolvable: boolean;
  resolved?: boolean;
  resolved_by?: { name: string } | null;
  position?: ShownPosition | null;
  /** Changes that the comment proposes. The text lacks them: they are shown below it. */
  suggestions?: readonly Suggestion[];
  content: Html;
  mayAdmin: boolean;
};

export type ShownThread = { id: string; notes: ShownNote[] };

/** Rights of the viewer in the discussion. */
export type TimelineRights = { comment: boolean; internal: boolean; award: boolean; resolve: boolean };

export type Timeline = {
  description: Html;
  threads: ShownThread[];
  /** The page of the timeline, and the number of threads and events on all pages. */
  page: number;
  total: number;
  filter: ActivityFilter;
  order: TimelineOrder;
  awards: AwardCounts;
  /** Roles of the authors in the project, by user; empty: the viewer does not see its members. */
  roles: ReadonlyMap<number, string>;
  edits: LastEdits;
};

export const findTimelineRights = ({ call }: Visit, loaded: LoadedNoteable): TimelineRights => ({
  comment: call.signedIn && mayComment(call, loaded),
  internal: call.signedIn && may(call.viewer, 'internal_note', loaded.project),
  award: call.signedIn && mayAward(call, loaded),
  resolve: call.signedIn && mayResolve(call, loaded),
});

/** Lists a page of the timeline; by default the last one, which has the newest comments. */
const loadThreads = async (
  { call }: Visit,
  { target }: LoadedNoteable,
  { requested, filter }: { requested: number | undefined; filter: ActivityFilter },
): Promise<{ items: Discussion[]; total: number; page: number }> => {
  const read = async (page: number) =>
    await listDiscussions(call, target, pageRequest({ page, per_page: threadsPerPage }), filter);
  const page = Math.max(requested ?? 1, 1);
  const first = await read(page);
  const last = Math.max(Math.ceil(first.total / threadsPerPage), 1);
  if (requested !== undefined || last === 1) return { ...first, page };
  return { ...(await read(last)), page: last };
};

const withoutSuggestions = ({ body, suggestions = [] }: Pick<ShownNote, 'body' | 'suggestions'>): string =>
  suggestions.length > 0 ? parseSuggestions(body).text : body;

/** Renders the description and the comments together: references take a few queries for all. */
const renderTexts = async (
  { call }: Visit,
  loaded: LoadedNoteable,
  { description: text, items }: { description: string | null; items: Discussion[] },
): Promise<Pick<Timeline, 'description' | 'threads'>> => {
  const { project, target } = loaded;
  const threads = await discussionsJson(call, target, items);
  const rows = new Map<number, NoteRow>(items.flatMap(({ notes }) => notes.map((note) => [note.id, note])));
  const bodies = threads.flatMap(({ notes }) => notes.map(withoutSuggestions));
  const [description, ...contents] = await markdownTexts(call, [text ?? '', ...bodies], { project });
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

/** Bytes of roles in memory. */
const maxRoles = 400_000;

const keepRoles = keepReads<ReadonlyMap<number, string>>(maxRoles, (roles) => 100 + 100 * roles.size);

/** Loads the roles of the authors of comments. */
export const loadRoles = async (
  { call }: Visit,
  { project }: LoadedNoteable,
  items: readonly Pick<Discussion, 'notes'>[],
): Promise<ReadonlyMap<number, string>> => {
  const notes = items.flatMap((item) => item.notes);
  const ids = [...new Set(notes.filter(({ system }) => system === 0).map(({ author_id }) => author_id))];
  if (ids.length === 0 || !may(call.viewer, 'read_member', project)) return new Map();
  const { id, namespace_id } = project;
  // Memberships end with a day.
  return await keepRoles(call.db, `${id} ${namespace_id} ${today(call.now)} ${ids.join()}`, async () => {
    const source = { type: 'Project' as const, id, namespace_id, level: 0, mayRead: true, mayAdmin: false };
    const filter = { query: '', inherited: true, user_ids: ids, now: call.now };
    const { rows } = await listMembers(call.db, source, filter, pageRequest({ per_page: 100 }));
    return new Map(rows.map((member) => [member.id, nameRole(member.access_level)]));
  });
};

type TimelineOptions = {
  description: string | null;
  /** Page of the timeline; undefined: the last. */
  requested: number | undefined;
  /** Default of both: what the visitor prefers. */
  filter?: ActivityFilter;
  order?: TimelineOrder;
  /** The record, whose description may have been edited; absent: a record without. */
  record?: EditedRecord;
};

export const loadTimeline = async (
  visit: Visit,
  loaded: LoadedNoteable,
  options: TimelineOptions,
): Promise<Timeline> => {
  const { preferences } = visit;
  const { description, requested, record = null } = options;
  const { filter = preferences.activity_filter, order = preferences.timelineOrder } = options;
  const { items, total, page } = await loadThreads(visit, loaded, { requested, filter });
  const rows = items.flatMap(({ notes }) => notes);
  const noteIds = rows.map(({ id }) => id);
  const [texts, awards, roles, edits] = await Promise.all([
    renderTexts(visit, loaded, { description, items }),
    countAwards(visit.call, loaded.target, noteIds),
    loadRoles(visit, loaded, items),
    loadLastEdits(visit.call, rows, record),
  ]);
  return { ...texts, page, total, filter, order, awards, roles, edits };
};
