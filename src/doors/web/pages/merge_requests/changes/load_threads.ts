/** The threads and drafts on lines and files, and where they are shown. */
import { type AwardCount, countAwards } from '../../../../../planning/awards/count_awards.ts';
import { mayAward } from '../../../../../planning/awards/rules.ts';
import { discussionsJson } from '../../../../../planning/discussions/json.ts';
import { type Discussion, listDiffDiscussions } from '../../../../../planning/discussions/queries.ts';
import { mayResolve } from '../../../../../planning/discussions/resolve_and_reply_rules.ts';
import { type Position, parsePosition } from '../../../../../planning/notes/position.ts';
import { parseSuggestions } from '../../../../../planning/notes/suggestions/parse_suggestions.ts';
import { mayAdminNote, mayComment } from '../../../../../planning/notes/rules.ts';
import { type FileDiff, zeroOid } from '../../../../../platform/git/protocol_types.ts';
import { type DraftNote, allDrafts } from '../../../../../review/merge_requests/drafts/draft_notes.ts';
import type { VersionRow } from '../../../../../review/merge_requests/versions/json.ts';
import type { Visit } from '../../../page.ts';
import type { LineKey } from '../../../parts/diff/row_parts.ts';
import type { Html } from '../../../parts/html.ts';
import { markdownTexts } from '../../../parts/markdown.ts';
import { loadRoles } from '../../../parts/timeline/load_timeline.ts';
import { type LastEdit, loadLastEdits } from '../../../parts/timeline/last_edit.ts';
import type { Changes } from './load_changes.ts';
import { type ShownSuggestion, prepareSuggestions } from './load_suggestions.ts';

/** Threads that are shown; of more, the newest. */
const maxThreads = 500;

type Person = { id: number; name: string; username: string; avatar_url: string | null };

export type ShownNote = {
  id: number;
  body: string;
  author: Person;
  created_at: string;
  edited: LastEdit | null;
  /** Role of the author in the project; null: none, or the viewer does not see its members. */
  role: string | null;
  resolvable: boolean;
  resolved?: boolean;
  resolved_by?: { name: string } | null;
  content: Html;
  mayAdmin: boolean;
  suggestions: readonly ShownSuggestion[];
  awards: readonly AwardCount[];
};

/** Where a thread or draft is shown in the version on the page. */
export type ThreadPosition = {
  path: string;
  /** null: on the file as a whole, or its line is not in this version. */
  line: LineKey | null;
  /** First line of a range. */
  firstLine: number | null;
  isOutdated: boolean;
  /** Version in which it began; null: unknown. */
  version: VersionRow | null;
  /** The head commit of where it began. */
  head: string;
};

export type Thread = { id: string; position: ThreadPosition; isResolved: boolean; discussion: Discussion };

export type ShownThread = Omit<Thread, 'discussion'> & { notes: ShownNote[] };

export type ShownDraft = { draft: DraftNote; content: Html };

export type DiffThreads = {
  threads: Thread[];
  drafts: { draft: DraftNote; position: ThreadPosition | null }[];
  unresolved: number;
  mayComment: boolean;
  mayResolve: boolean;
  mayAward: boolean;
};

const lineOf = (position: Position): LineKey | null => {
  if (position.position_type !== 'text') return null;
  const { old_line, new_line } = position;
  if (new_line !== null) return `new_${new_line}`;
  return old_line === null ? null : `old_${old_line}`;
};

const firstLineOf = (position: Position): number | null => {
  if (position.position_type !== 'text' || position.line_range === null) return null;
  const { start } = position.line_range;
  const first = start.new_line ?? start.old_line;
  const last = position.new_line ?? position.old_line;
  return first === last ? null : first;
};

type Versions = Pick<Changes, 'versions' | 'version' | 'since' | 'commit' | 'files'>;

const isOfVersion = ({ version, since, commit }: Versions, { head_sha, base_sha }: Position): boolean => {
  if (commit !== null) return head_sha === commit.id && base_sha === (commit.parent ?? zeroOid);
  return version?.head_commit_sha === head_sha && (since !== null || version.base_commit_sha === base_sha);
};

/** Finds where a thread is shown: at its present position, or else where it began. Null: not with the chosen commit. */
const findPosition = (versions: Versions, positions: readonly (Position | null)[]): ThreadPosition | null => {
  const [now = null, original = now] = positions;
  const began = original ?? now;
  if (began === null) return null;
  const current = [now, original].find((one) => one !== null && isOfVersion(versions, one)) ?? null;
  if (current === null && versions.commit !== null) return null;
  const shown = current ?? began;
  const version = versions.versions.find((one) => one.head_commit_sha === began.head_sha) ?? null;
  // In a comparison of versions, only the new side belongs to the version.
  const line = lineOf(shown);
  const isOfSide = versions.since === null || line?.startsWith('new') === true;
  return {
    path: shown.new_path,
    line: current !== null && isOfSide ? line : null,
    firstLine: firstLineOf(shown),
    isOutdated: current === null,
    version,
    head: began.head_sha,
  };
};

const isResolved = ({ notes }: Discussion): boolean =>
  notes.some(({ resolvable }) => resolvable === 1) &&
  notes.every(({ resolvable, resolved_at }) => resolvable === 0 || resolved_at !== null);

/** Loads the threads and drafts, without their texts as HTML. */
export const loadDiffThreads = async ({ call }: Visit, changes: Changes): Promise<DiffThreads> => {
  const { loaded } = changes;
  const [discussions, drafts] = await Promise.all([
    listDiffDiscussions(call, loaded.target, maxThreads),
    call.signedIn ? allDrafts(call, loaded) : [],
  ]);
  const threads = discussions.flatMap((discussion): Thread[] => {
    const [first] = discussion.notes;
    const present = parsePosition(first.position);
    const position = findPosition(changes, [present, parsePosition(first.original_position)]);
    return position === null
      ? []
      : [{ id: discussion.id, position, isResolved: isResolved(discussion), discussion }];
  });
  return {
    threads,
    drafts: drafts.map((draft) => ({
      draft,
      position: findPosition(changes, [parsePosition(draft.position)]),
    })),
    unresolved: threads.filter((thread) => !thread.isResolved).length,
    mayComment: call.signedIn && mayComment(call, loaded),
    mayResolve: call.signedIn && mayResolve(call, loaded),
    mayAward: call.signedIn && mayAward(call, loaded),
  };
};

/** Counts the unresolved threads of each file. */
export const countByFile = ({ threads }: DiffThreads): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const { position, isResolved: isDone } of threads) {
    if (!isDone) counts.set(position.path, (counts.get(position.path) ?? 0) + 1);
  }
  return counts;
};

/** Counts the reactions to comments, by the id of the comment. */
const countNoteAwards = async (
  { call }: Visit,
  { loaded }: Changes,
  notes: readonly { id: number }[],
): Promise<ReadonlyMap<number, readonly AwardCount[]>> => {
  if (notes.length === 0) return new Map();
  const ids = notes.map(({ id }) => id);
  return (await countAwards(call, loaded.target, ids)).notes;
};

/** Renders the texts of threads and drafts together: references take a few queries for all. */
export const renderDiffThreads = async (
  visit: Visit,
  changes: Changes,
  { threads, drafts }: Pick<DiffThreads, 'threads' | 'drafts'>,
): Promise<{ threads: ShownThread[]; drafts: (ShownDraft & { position: ThreadPosition | null })[] }> => {
  const { call } = visit;
  const { loaded } = changes;
  const { project, target } = loaded;
  const rendered = await discussionsJson(
    call,
    target,
    threads.map(({ discussion }) => discussion),
  );
  const notes = rendered.flatMap((thread) => thread.notes);
  const discussions = threads.map(({ discussion }) => discussion);
  const stored = discussions.flatMap((discussion) => discussion.notes);
  const [suggestions, counts, edits, roles] = await Promise.all([
    prepareSuggestions(visit, loaded, notes),
    countNoteAwards(visit, changes, notes),
    loadLastEdits(call, stored, null),
    loadRoles(visit, loaded, discussions),
  ]);
  const bodies = rendered.flatMap(({ notes }) =>
    notes.map(({ id, body }) => (suggestions.has(id) ? parseSuggestions(body).text : body)),
  );
  const texts = [...bodies, ...drafts.map(({ draft }) => draft.note)];
  const contents = texts.length === 0 ? [] : await markdownTexts(call, texts, { project });
  let at = 0;
  const shown = threads.map(({ discussion, ...thread }, index): ShownThread => {
    const rows = new Map(discussion.notes.map((note) => [note.id, note]));
    const notes = (rendered[index]?.notes ?? []).map((note): ShownNote => {
      const row = rows.get(note.id);
      const content = contents[at++] as Html;
      const mayAdmin = call.signedIn && row !== undefined && mayAdminNote(call, loaded, row);
      const columns = note as Omit<
        ShownNote,
        'content' | 'mayAdmin' | 'suggestions' | 'awards' | 'edited' | 'role'
      >;
      const awards = counts.get(note.id) ?? [];
      const edited = edits.notes.get(note.id) ?? null;
      const role = roles.get(note.author.id) ?? null;
      return {
        ...columns,
        content,
        mayAdmin,
        suggestions: suggestions.get(note.id) ?? [],
        awards,
        edited,
        role,
      };
    });
    return { ...thread, notes };
  });
  return {
    threads: shown.filter(({ notes }) => notes.length > 0),
    drafts: drafts.map((one) => ({ ...one, content: contents[at++] as Html })),
  };
};

/** Returns the file on the page that has the position. */
export const fileOf = (files: readonly FileDiff[], { path }: ThreadPosition): FileDiff | undefined =>
  files.find(({ new_path }) => new_path === path) ?? files.find(({ old_path }) => old_path === path);
