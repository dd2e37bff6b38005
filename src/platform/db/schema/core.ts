/**
 * Row types of the tables of the work queue, settings, the audit log and the change log; conventions as in
 * `database.ts`.
 */
import type { Generated } from 'kysely';
import type { Flag, Id } from './column_types.ts';

/** The change log, ordered: one row for each change, written in its transaction. */
export type EventsTable = {
  id: Id;
  created_at: number;
  actor_id: number | null;
  /** The administrator behind a call under sudo. */
  sudo_by_id: number | null;
  project_id: number | null;
  /** `issue.created`, `member.removed`... */
  kind: string;
  target_type: string;
  target_id: number;
  /** JSON object: what changed, with its values before and after. */
  data: string;
};

export type ActivityAction =
  | 'created'
  | 'closed'
  | 'reopened'
  | 'pushed'
  | 'commented'
  | 'merged'
  | 'joined'
  | 'left'
  /** The membership of the author ended on its last day. */
  | 'expired'
  | 'destroyed'
  | 'approved';

/** Subject that decides who may see an activity: a record, or a part of the project. */
export type ActivitySubject =
  | 'Issue'
  | 'MergeRequest'
  | 'Snippet'
  | 'Milestone'
  | 'Commit'
  | 'Project'
  | 'Member';

/** The changes that the events API shows (`core/events/activities.ts`). */
export type ActivitiesTable = {
  id: Id;
  created_at: number;
  project_id: number;
  author_id: number;
  action: ActivityAction;
  target_type: ActivitySubject | 'Note' | 'CommitComment' | null;
  target_id: number | null;
  subject_type: ActivitySubject;
  /** Id of the issue or merge request; null: the project itself decides. */
  subject_id: number | null;
  /** JSON object: of a push the ref with its commits, of a deleted milestone its title. */
  data: string;
};

/** Messages of administrators that pages show for a time. */
export type BroadcastMessagesTable = {
  id: Id;
  message: string;
  starts_at: number;
  ends_at: number;
  color: string | null;
  font: string | null;
  theme: string;
  /** JSON: roles. */
  target_access_levels: string;
  target_path: string | null;
  broadcast_type: 'banner' | 'notification';
  dismissable: Flag;
  created_at: number;
  updated_at: number;
};

export type WorkTable = {
  id: Id;
  name: string;
  /** JSON object. */
  payload: string;
  /** At most one waiting row per key. */
  unique_key: string | null;
  /** At most one locked row per turn. */
  turn: string | null;
  run_at: number;
  attempts: Generated<number>;
  /** Attempts that ended by an outage or before a manual retry. */
  excused_attempts: Generated<number>;
  locked_until: number | null;
  /** Name of the process that holds the lease (`platform/db/process_name.ts`). */
  locked_by: string | null;
  last_error: string | null;
  created_at: number;
  /** `traceparent` of the request or work that enqueued it; null: that was not traced. */
  trace: Generated<string | null>;
};

/** One row for each backup that was begun. */
export type BackupsTable = {
  id: Id;
  /** Its time and a random part: `20261126T204500Z-1a2b3c4d`. */
  name: string;
  destination: string;
  /** Host and data folder of the process that makes it. */
  holder: string;
  started_at: number;
  /** Until then, files of this instance are not removed; null if the backup has ended. */
  held_until: number | null;
  /** null: it runs, failed, or its process died. */
  finished_at: number | null;
  verified_at: number | null;
  /** Size of what was added to the destination. */
  bytes: number | null;
  /** What runs, `files saved`, and how many of its items are done; null: neither it nor its verification runs. */
  part: string | null;
  part_done: number | null;
  part_total: number | null;
  /** When these were last written. */
  part_at: number | null;
  error: string | null;
};

/** One row for each setting of the instance that was ever changed (`core/settings/fields.ts`). */
export type SettingsTable = {
  name: string;
  /** JSON. */
  value: string;
  updated_at: number;
  updated_by_id: number | null;
};

/** The audit log: security-relevant events. Rows are added, never changed. */
export type AuditEventsTable = {
  id: Id;
  created_at: number;
  /** `session.created`, `settings.changed`... */
  kind: string;
  /** null: unknown, as with a failed sign-in. */
  actor_id: number | null;
  /** The administrator behind a call under sudo. */
  sudo_by_id: number | null;
  target_type: string | null;
  target_id: number | null;
  ip: string;
  user_agent: string;
  /** JSON object: what changed, with values before and after; never a secret. */
  details: string;
};

/**
 * `names_version` rises when a name changes that issues show, such as a username or a label (triggers);
 * `hooks_version` when the hooks of any project change.
 */
export type InstanceTable = {
  name: string;
  value: string;
};

export type CoreSchema = {
  backups: BackupsTable;
  events: EventsTable;
  activities: ActivitiesTable;
  work: WorkTable;
  broadcast_messages: BroadcastMessagesTable;
  settings: SettingsTable;
  audit_events: AuditEventsTable;
  instance: InstanceTable;
};
