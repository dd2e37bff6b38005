/**
 * Every column of an issue and every field of its JSON, in the order of the JSON. To add a column, add an entry: it
 * defines the JSON of the column, the parameter and permission that set it, the system note of a change, whether an
 * issue keeps it when it moves to another project, and whether a clone has it.
 */
import { type Flag, toFlag } from '../../platform/db/schema/column_types.ts';
import {
  array,
  boolean,
  clearable,
  day,
  int,
  nullable,
  optional,
  string,
} from '../../platform/http/schema.ts';
import { basicUser, basicUserShape } from '../../identity/users/json.ts';
import { milestoneJson, milestoneShape } from '../../projects/milestones/json.ts';
import { type FieldsOf, asFlag, asIs, asTime, derived, orNull, setBy } from '../issuables/fields.ts';
import { editable, edits } from '../issuables/params.ts';
import {
  confidentialText,
  descriptionText,
  lockText,
  titleText,
} from '../issuables/text/system_note_text.ts';
import { taskCounts, taskCountsShape } from '../issuables/text/tasks.ts';
import type { FullIssue, IssueRow } from './rows.ts';
import { issueUrl } from './web_url.ts';

/** A column that a moved issue takes to its new project, and one that it does not. */
const moves = { moves: true } as const;
const stays = { moves: false } as const;

/** A column whose value a clone has, and one that starts afresh in a clone. */
const cloned = { clones: true } as const;
const fresh = { clones: false } as const;

export const issueFields = {
  id: { ...stays, ...fresh, json: asIs(int) },
  iid: { ...stays, ...fresh, json: asIs(int) },
  project_id: { ...stays, ...fresh, json: asIs(int) },
  title: {
    ...moves,
    ...cloned,
    json: asIs(string),
    set: setBy(edits.title, {
      toColumn: (title) => title,
      note: (before: string, after: string) => [titleText(before, after)],
    }),
  },
  // A move rewrites the references in it.
  description: {
    ...stays,
    ...cloned,
    json: asIs(nullable(string)),
    set: setBy(editable.description, {
      toColumn: (description) => description,
      initial: null,
      note: (before: string | null, after: string | null) => [descriptionText(before, after)],
    }),
  },
  state: { ...moves, ...fresh, json: asIs(string) },
  created_at: { ...moves, ...fresh, json: asTime },
  updated_at: { ...stays, ...fresh, json: asTime },
  closed_at: { ...moves, ...fresh, json: orNull(asTime) },
  labels: derived(array(string), ({ labels }: FullIssue) => labels),
  milestone: derived(nullable(milestoneShape), ({ milestone }: FullIssue, site) =>
    milestone === null ? null : milestoneJson(milestone, site),
  ),
  assignees: derived(array(basicUserShape), ({ assignees }: FullIssue, site) =>
    assignees.map((user) => basicUser(user, site)),
  ),
  author: derived(basicUserShape, ({ author }: FullIssue, site) => basicUser(author, site)),
  assignee: derived(nullable(basicUserShape), ({ assignees: [first] }: FullIssue, site) =>
    first === undefined ? null : basicUser(first, site),
  ),
  user_notes_count: { ...moves, ...fresh, json: asIs(int) },
  upvotes: { ...moves, ...fresh, json: asIs(int) },
  downvotes: { ...moves, ...fresh, json: asIs(int) },
  due_date: {
    ...moves,
    ...cloned,
    json: asIs(nullable(string)),
    set: setBy(optional(clearable(day('YYYY-MM-DD, or a time whose date is kept'))), {
      toColumn: (date) => date,
      initial: null,
      permission: 'admin_issue',
    }),
  },
  confidential: {
    ...moves,
    ...cloned,
    json: asFlag,
    set: setBy(optional(boolean()), {
      toColumn: toFlag,
      initial: 0,
      note: (before: Flag, after: Flag) => [confidentialText(before === 1, after === 1)],
    }),
  },
  web_url: derived(string, ({ project_path, iid }: FullIssue, { baseUrl }) =>
    issueUrl(baseUrl, project_path, iid),
  ),
  // There is one kind of issue; typed clients fail on a record that does not name it.
  issue_type: derived(string, () => 'issue'),
  type: derived(string, () => 'ISSUE'),
  closed_by: derived(nullable(basicUserShape), ({ closed_by }: FullIssue, site) =>
    closed_by === null ? null : basicUser(closed_by, site),
  ),
  moved_to_id: { ...stays, ...fresh, json: asIs(nullable(int)) },
  discussion_locked: {
    ...moves,
    ...fresh,
    json: orNull(asFlag),
    // `false` on a discussion that was never locked is stored and leaves no note.
    set: setBy(edits.discussion_locked, {
      toColumn: (isLocked): Flag | null => toFlag(isLocked),
      permission: 'admin_issue',
      note: (before: Flag | null, after: Flag | null) => [lockText('Issue', before === 1, after === 1)],
    }),
  },
  task_completion_status: derived(taskCountsShape, ({ description }: FullIssue) => taskCounts(description)),
  merge_requests_count: derived(int, ({ merge_requests_count }: FullIssue) => merge_requests_count),
  // Columns that the JSON does not have under these names.
  author_id: { ...moves, ...fresh, json: null },
  milestone_id: { ...stays, ...cloned, json: null },
  time_estimate: { ...moves, ...cloned, json: null },
  total_time_spent: { ...stays, ...fresh, json: null },
  closed_by_id: { ...moves, ...fresh, json: null },
  last_edited_at: { ...moves, ...fresh, json: null },
  last_edited_by_id: { ...moves, ...fresh, json: null },
  deleted_at: { ...stays, ...fresh, json: null },
  relative_position: { ...stays, ...fresh, json: null },
  revision: { ...stays, ...fresh, json: null },
} satisfies FieldsOf<IssueRow, FullIssue, { moves: boolean; clones: boolean }>;

type MovedName = {
  [N in keyof IssueRow]: (typeof issueFields)[N] extends { moves: true } ? N : never;
}[keyof IssueRow];

/** Columns whose values a clone has. */
export type ClonedName = {
  [N in keyof IssueRow]: (typeof issueFields)[N] extends { clones: true } ? N : never;
}[keyof IssueRow];

const movedNames = Object.entries(issueFields).flatMap(([name, field]) =>
  'moves' in field && field.moves ? [name as MovedName] : [],
);

/** Columns that a moved issue takes to its new project. */
export const movedColumns = (issue: IssueRow): Pick<IssueRow, MovedName> =>
  Object.fromEntries(movedNames.map((name) => [name, issue[name]])) as Pick<IssueRow, MovedName>;
