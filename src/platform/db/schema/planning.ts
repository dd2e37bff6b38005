/**
 * Row types of the tables of issues, notes, todos, and of records that issues and merge requests share; conventions
 * as in `database.ts`.
 */
import type { Generated } from 'kysely';
import type { Flag, Id, NoteableType, TargetType } from './column_types.ts';

/** `target_created_at` repeats the target's immutable `created_at`, to order filtered lists. */
export type LabelLinksTable = {
  target_type: TargetType;
  target_id: number;
  label_id: number;
  target_created_at: number;
};

export type AssigneesTable = {
  target_type: TargetType;
  target_id: number;
  user_id: number;
  position: number;
  target_created_at: number;
};

export type IssuesTable = {
  id: Id;
  project_id: number;
  iid: number;
  title: string;
  description: string | null;
  state: 'opened' | 'closed';
  author_id: number;
  milestone_id: number | null;
  confidential: Flag;
  /** Only project members may comment. null: never locked. */
  discussion_locked: Generated<Flag | null>;
  due_date: string | null;
  time_estimate: Generated<number>;
  total_time_spent: Generated<number>;
  user_notes_count: Generated<number>;
  upvotes: Generated<number>;
  downvotes: Generated<number>;
  moved_to_id: number | null;
  /** Manual sort position, unique across the instance; null: derived from creation (`issuePosition`). */
  relative_position: Generated<number | null>;
  closed_at: number | null;
  closed_by_id: number | null;
  /** The last edit of the description; null: none. The editor may be deleted. */
  last_edited_at: Generated<number | null>;
  last_edited_by_id: Generated<number | null>;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
  /** Version of what lists show of the issue: its row, labels and assignees. Raised by triggers. */
  revision: Generated<number>;
};

/** Searchable text, folded by `foldCase`. `indexed` 0: not yet in the engine's trigram index. */
export type IssueSearchTable = {
  issue_id: number;
  title: string;
  description: string;
  indexed: Generated<Flag>;
};

export type NotesTable = {
  id: Id;
  project_id: number;
  target_type: NoteableType;
  target_id: number;
  author_id: number;
  body: string;
  system: Flag;
  /** 1: only reporters and above see it. All comments of a discussion have the same value. */
  internal: Generated<Flag>;
  created_at: number;
  updated_at: number;
  /** null: an individual comment. */
  discussion_id: Generated<string | null>;
  /** null: a plain comment. */
  type: Generated<'DiscussionNote' | 'DiffNote' | null>;
  /** JSON: position in the diff where it was written. */
  original_position: Generated<string | null>;
  /** JSON: position of that line in the latest diff. */
  position: Generated<string | null>;
  resolvable: Generated<Flag>;
  resolved_at: Generated<number | null>;
  resolved_by_id: Generated<number | null>;
  /** For a note about a mention: type of the mentioning record; null for other notes. */
  mentioned_by_type: Generated<TargetType | 'Commit' | null>;
  mentioned_by_project_id: Generated<number | null>;
  /** Id of the mentioning issue or merge request. */
  mentioned_by_id: Generated<number | null>;
  mentioned_by_sha: Generated<string | null>;
  /** User who last changed the text, at `updated_at`; null if it was never changed. The user may be deleted. */
  edited_by_id: Generated<number | null>;
};

/** Users mentioned in a text of a target. `note_id` 0: its title or description. */
export type MentionsTable = {
  target_type: NoteableType;
  target_id: number;
  note_id: number;
  user_id: number;
};

export type AwardEmojiTable = {
  id: Id;
  name: string;
  user_id: number;
  target_type: NoteableType | 'Note';
  target_id: number;
  created_at: number;
  updated_at: number;
};

export type SubscriptionsTable = {
  user_id: number;
  target_type: TargetType | 'Label';
  target_id: number;
  subscribed: Flag;
  created_at: number;
  updated_at: number;
};

export type TodosTable = {
  id: Id;
  user_id: number;
  author_id: number;
  project_id: number;
  target_type: TargetType;
  target_id: number;
  action:
    | 'assigned'
    | 'mentioned'
    | 'build_failed'
    | 'marked'
    | 'unmergeable'
    | 'directly_addressed'
    | 'review_requested';
  /** Comment that the todo is about, with its text in `body`; null: the target itself. */
  note_id: number | null;
  body: string;
  state: 'pending' | 'done';
  created_at: number;
  updated_at: number;
};

export type TimelogsTable = {
  id: Id;
  target_type: TargetType;
  target_id: number;
  user_id: number;
  /** Seconds; negative when subtracted. */
  time_spent: number;
  /** What the time was spent on; empty: not said. */
  summary: Generated<string>;
  /** `YYYY-MM-DD`; null: the day of `created_at`. */
  spent_on: Generated<string | null>;
  created_at: number;
};

export type UserAgentDetailsTable = {
  target_type: TargetType;
  target_id: number;
  user_agent: string;
  ip_address: string;
};

/** Changes of state, labels and milestone of issues and merge requests. */
export type ResourceEventsTable = {
  id: Id;
  kind: 'state' | 'label' | 'milestone';
  target_type: TargetType;
  target_id: number;
  user_id: number | null;
  action: 'closed' | 'reopened' | 'merged' | 'add' | 'remove';
  /** Only for label events; null if the label was deleted. */
  label_id: number | null;
  milestone_id: number | null;
  created_at: number;
};

/** Links between issues; `source_id` blocks `target_id`, or both are related. */
export type IssueLinksTable = {
  id: Id;
  source_id: number;
  target_id: number;
  link_type: 'relates_to' | 'blocks';
  created_at: number;
  updated_at: number;
};

/** An issue board of a project or a group. Its milestone, assignee and labels limit which issues it shows. */
export type BoardsTable = {
  id: Id;
  project_id: number | null;
  group_id: number | null;
  name: string;
  hide_backlog_list: Generated<Flag>;
  hide_closed_list: Generated<Flag>;
  milestone_id: number | null;
  assignee_id: number | null;
  created_at: number;
  updated_at: number;
};

export type BoardLabelsTable = {
  board_id: number;
  label_id: number;
};

/** A column of a board: the issues with a label, an assignee or a milestone. One of the three is set. */
export type BoardListsTable = {
  id: Id;
  board_id: number;
  label_id: number | null;
  assignee_id: number | null;
  milestone_id: number | null;
  position: number;
  /** Work in progress beyond which the column warns; 0: no limit. */
  max_issue_count: Generated<number>;
  created_at: number;
  updated_at: number;
};

/** External services of a project, such as an issue tracker. */
export type IntegrationsTable = {
  id: Id;
  project_id: number;
  slug: string;
  active: Flag;
  /** JSON object. */
  properties: string;
  created_at: number;
  updated_at: number;
};

/** A filter of a list that its user keeps under a name. */
export type SavedViewsTable = {
  id: Id;
  user_id: number;
  kind: 'issues' | 'merge_requests';
  /** The project or group of the list; both null: the list of the user's own work. */
  project_id: number | null;
  group_id: number | null;
  name: string;
  /** Query of the list's address: `state=closed&labels=bug`. */
  query: string;
  created_at: number;
};

export type PlanningSchema = {
  saved_views: SavedViewsTable;
  label_links: LabelLinksTable;
  assignees: AssigneesTable;
  issues: IssuesTable;
  issue_search: IssueSearchTable;
  notes: NotesTable;
  mentions: MentionsTable;
  award_emoji: AwardEmojiTable;
  subscriptions: SubscriptionsTable;
  todos: TodosTable;
  timelogs: TimelogsTable;
  user_agent_details: UserAgentDetailsTable;
  resource_events: ResourceEventsTable;
  issue_links: IssueLinksTable;
  boards: BoardsTable;
  board_labels: BoardLabelsTable;
  board_lists: BoardListsTable;
  integrations: IntegrationsTable;
};
