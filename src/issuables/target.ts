/**
 * What issues and merge requests share. Notes, awards, todos, subscriptions and time tracking are written once,
 * for any record that can be named by a `Target`; each noun hands them a `Noun` that knows how to find it.
 */
import type { Call } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import type { TargetType } from '../db/schema.ts';
import type { Viewer } from '../access/viewer.ts';
import type { Project } from '../projects/find.ts';
import type { QuickAction } from './quick_actions.ts';

/** One issue or merge request, as the shared tables name it. */
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
  created_at: number;
};

/** The most seconds that may be spent on one target. */
export const longestSpent = 2 ** 31 - 1;

/** A target that the caller sees, with its project. */
export type Found = {
  target: Target;
  project: Project;
  /** Whether somebody else may see it: asked before he is told of it. */
  isVisibleTo: (viewer: Viewer) => boolean;
};

/** What a shared part changes of the target's own row: counts by how much, the rest to what. */
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

/** A noun of the API that carries notes, awards and the rest. */
export type Noun = {
  type: TargetType;
  /** In the path: `issues`. */
  segment: string;
  /** Path parameter: `issue_iid`. */
  param: string;
  /** For texts: `issue`. */
  word: string;
  /** The target, if the caller sees it; else 404. */
  find: (call: Call, projectId: number | string, iid: number) => Promise<Found>;
  /** Whether the caller may edit it: by role, or as its author or assignee. */
  mayUpdate: (call: Call, found: Found) => boolean;
  /** Its page. */
  webUrl: (call: Call, found: Found) => string;
  /** Its times inside a transaction, the row locked, so that two additions are both kept. */
  times: (tx: Tx, target: Target) => Promise<{ time_estimate: number; total_time_spent: number }>;
  /** Applies a change of the shared parts to the target's own row. */
  change: (tx: Tx, target: Target, change: Change) => Promise<void>;
  /** Does what quick actions in a comment ask for, as far as the caller may. Absent: they are text. */
  act?: (call: Call, found: Found, actions: QuickAction[]) => Promise<Acts>;
};

/** What quick actions did, by name; nothing in it: nothing came of them. */
export type Acts = { [name: string]: unknown };

/** `issue.subscribed`, `merge_request.time_tracked`: how the change log names what happened to a target. */
export const eventKind = ({ word }: Noun, verb: string): string => `${word.replaceAll(' ', '_')}.${verb}`;
