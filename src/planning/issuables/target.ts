/**
 * The common view of issues and merge requests. Notes, awards, todos, subscriptions and time tracking are written once,
 * for any `Target`; issues and merge requests each supply a `Noun` that finds their targets.
 */
import type { Call } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { NoteableType, TargetType } from '../../platform/db/schema/column_types.ts';
import type { Viewer } from '../../core/access/viewer.ts';
import type { Project } from '../../projects/projects/find.ts';
import type { QuickAction } from './text/quick_actions.ts';

/** An issue or merge request, as the shared tables reference it. */
export type Target = {
  type: TargetType;
  id: number;
  iid: number;
  project_id: number;
  title: string;
  author_id: number;
  assignee_ids: number[];
  /** Seconds. */
  time_estimate: number;
  /** Seconds. */
  total_time_spent: number;
  /** Only members of the project may comment on it. */
  discussion_locked: boolean;
  created_at: number;
};

/** A record with comments: an issue, a merge request or a snippet, whose iid is its id. */
export type Noteable = Omit<Target, 'type'> & { type: NoteableType };

/** Returns whether a record with comments has todos, labels and assignees. */
export const isIssuable = (noteable: Noteable): noteable is Target => noteable.type !== 'Snippet';

/** The most seconds that may be spent on one target. */
export const maxSpentSeconds = 2 ** 31 - 1;

/** A record with comments that the caller may see, with its project. */
export type LoadedNoteable = {
  target: Noteable;
  project: Project;
  /** Returns whether another user may see the target; checked before they get a to-do item. */
  isVisibleTo: (viewer: Viewer) => boolean;
};

/** A target that the caller may see, with its project. */
export type LoadedTarget = LoadedNoteable & { target: Target };

/** A change of the target's own row. Counters are increments; the rest are new values. */
export type Change = {
  user_notes_count?: number;
  upvotes?: number;
  downvotes?: number;
  /** New values, in seconds. */
  time_estimate?: number;
  total_time_spent?: number;
  /** Time of the change; absent: `updated_at` stays. */
  updated_at?: number;
};

/** A kind of record with comments: how to find, show and change its records. */
export type NoteableNoun<L extends LoadedNoteable> = {
  type: L['target']['type'];
  /** Segment of the path: `issues`. */
  segment: string;
  /** Path parameter: `issue_iid`. */
  param: string;
  /** Word in texts: `issue`. */
  word: string;
  /** Loads the target; 404 if the caller may not see it. */
  find: (call: Call, projectId: number | string, iid: number) => Promise<L>;
  /** True if the caller may edit it: by role, or as its author or assignee. */
  mayUpdate: (call: Call, loaded: L) => boolean;
  /** Address of its page. */
  webUrl: (call: Call, loaded: L) => string;
  /** Applies a change of the shared parts to the target's own row. */
  change: (tx: Tx, target: L['target'], change: Change) => Promise<void>;
  /**
   * Executes the quick actions of a comment that the caller may execute. Absent: they remain text.
   * @param head head of the merge request that the caller saw; absent: the present one
   */
  act?: (call: Call, loaded: L, actions: QuickAction[], head?: string) => Promise<Acts>;
};

/** Operations on the loaded records of a kind. */
export type NounActions<L extends LoadedNoteable> = Omit<NoteableNoun<L>, 'find'>;

/** A kind of target. */
export type Noun = NoteableNoun<LoadedTarget> & {
  /** Locks the target's row and reads its times, so that concurrent additions are both kept. */
  times: (
    tx: Tx,
    target: Target,
  ) => Promise<{ time_estimate: number; total_time_spent: number; updated_at: number }>;
};

/** Describes the path parameter of a kind of record. */
export const describeParam = ({ type, word }: Pick<NoteableNoun<LoadedNoteable>, 'type' | 'word'>): string =>
  `${type === 'Snippet' ? 'id' : 'iid'} of the ${word}`;

/** Returns the word of a kind with its article, for the summary of an endpoint. */
export const withArticle = (word: string): string => `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;

/** Changes made by quick actions, by name; empty if there were none. */
export type Acts = {
  [name: string]: unknown;
  /** Why operations were skipped, by name. */
  skipped?: { [name: string]: string };
};

/** Name of an event in the change log: `issue.subscribed`, `merge_request.time_tracked`. */
export const eventKind = ({ word }: { word: string }, verb: string): string =>
  `${word.replaceAll(' ', '_')}.${verb}`;
