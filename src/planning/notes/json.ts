import type { Call } from '../../core/access/call.ts';
import type { Site } from '../../core/access/site.ts';
import {
  anything,
  array,
  bool,
  int,
  nullable,
  object,
  optional,
  string,
  timestamp,
} from '../../platform/http/schema.ts';
import type { Target } from '../issuables/target.ts';
import { formatTime, formatTimeOrNull } from '../../platform/time.ts';
import { type BasicUserRow, basicUser, basicUserShape, basicUsersById } from '../../identity/users/json.ts';
import { loadClosedByBodies } from './hide_closed_by_paths.ts';
import { loadLinkedBodies } from './hide_linked_issues.ts';
import { visibleBodies } from './hide_moved_paths.ts';
import { parsePosition, positionShape } from './position.ts';
import { type Suggestion, loadSuggestions, suggestionShape } from './suggestions/json.ts';
import type { NoteRow } from './note_row.ts';

export const noteShape = object({
  id: int,
  type: nullable(string),
  body: string,
  attachment: nullable(string),
  author: basicUserShape,
  created_at: timestamp,
  updated_at: timestamp,
  system: bool,
  noteable_id: int,
  noteable_type: string,
  /** null: snippets have none. */
  noteable_iid: nullable(int),
  project_id: int,
  /** Only on diff notes. */
  commit_id: optional(nullable(string)),
  position: optional(nullable(positionShape)),
  suggestions: optional(array(suggestionShape)),
  resolvable: bool,
  /** Only on resolvable notes. */
  resolved: optional(bool),
  resolved_by: optional(nullable(basicUserShape)),
  resolved_at: optional(nullable(timestamp)),
  confidential: bool,
  internal: bool,
  /** Changes made by quick actions in its text. Only in the reply to its creation. */
  commands_changes: optional(anything),
});

type Users = { author: BasicUserRow; resolved_by: BasicUserRow | undefined };

type ToUser = (user: BasicUserRow) => ReturnType<typeof basicUser>;

/** Renders each user once: few people write the comments of a page. */
const renderOnce = (site: Site): ToUser => {
  const rendered = new Map<number, ReturnType<typeof basicUser>>();
  return (user) => rendered.getOrInsertComputed(user.id, () => basicUser(user, site));
};

/** Keys that only a diff note has. Typed clients reject a null position on other notes. */
const diffFields = ({ type, position }: NoteRow, suggestions: Suggestion[]) =>
  type === 'DiffNote' ? { commit_id: null, position: parsePosition(position), suggestions } : {};

/** Keys that only a resolvable note has. */
const resolution = (
  { resolvable, resolved_at }: NoteRow,
  resolved_by: BasicUserRow | undefined,
  toUser: ToUser,
) =>
  resolvable === 1
    ? {
        resolved: resolved_at !== null,
        resolved_by: resolved_by === undefined ? null : toUser(resolved_by),
        resolved_at: formatTimeOrNull(resolved_at),
      }
    : {};

const noteJson = (
  note: NoteRow,
  { author, resolved_by }: Users,
  { body, iid, suggestions = [] }: { body: string; iid: number; suggestions: Suggestion[] | undefined },
  toUser: ToUser,
) => {
  const created_at = formatTime(note.created_at);
  return {
    id: note.id,
    type: note.type,
    body,
    attachment: null,
    author: toUser(author),
    created_at,
    updated_at: note.updated_at === note.created_at ? created_at : formatTime(note.updated_at),
    system: note.system === 1,
    noteable_id: note.target_id,
    noteable_type: note.target_type,
    noteable_iid: note.target_type === 'Snippet' ? null : iid,
    project_id: note.project_id,
    ...diffFields(note, suggestions),
    resolvable: note.resolvable === 1,
    ...resolution(note, resolved_by, toUser),
    confidential: note.internal === 1,
    internal: note.internal === 1,
  };
};

/** Renders notes of one target for the caller, in at most five statements. */
export const notesJson = async (call: Call, { iid }: Pick<Target, 'iid'>, notes: NoteRow[]) =>
  await mixedNotesJson(call, () => iid, notes);

/** Loads authors and resolvers. The caller, who is the author of a new comment, is loaded already. */
const loadUsers = async (
  { db, actor }: Pick<Call, 'db' | 'actor'>,
  notes: NoteRow[],
): Promise<Map<number, BasicUserRow>> => {
  const ids = notes.flatMap(({ author_id, resolved_by_id }) => [author_id, resolved_by_id ?? author_id]);
  const own = actor?.user;
  const others = ids.filter((id) => id !== own?.id);
  const users = others.length === 0 ? new Map<number, BasicUserRow>() : await basicUsersById(db, others);
  return own === undefined ? users : users.set(own.id, own);
};

/** Like `notesJson`, for several targets. @param getIid the iid of a note's target */
export const mixedNotesJson = async (call: Call, getIid: (note: NoteRow) => number, notes: NoteRow[]) => {
  const [users, moved, closed, linked, suggested] = await Promise.all([
    loadUsers(call, notes),
    visibleBodies(call, notes),
    loadClosedByBodies(call, notes),
    loadLinkedBodies(call, notes),
    loadSuggestions(call, notes),
  ]);
  const bodies = new Map([...moved, ...closed, ...linked]);
  const toUser = renderOnce(call);
  return notes.flatMap((note) => {
    const author = users.get(note.author_id);
    const resolved_by = note.resolved_by_id === null ? undefined : users.get(note.resolved_by_id);
    const body = bodies.get(note.id) ?? note.body;
    return author === undefined
      ? []
      : [
          noteJson(
            note,
            { author, resolved_by },
            { body, iid: getIid(note), suggestions: suggested.get(note.id) },
            toUser,
          ),
        ];
  });
};
