/** Rows of a list of issues. */
import { parseText } from '../../../../../planning/issuables/lists/json_cache.ts';
import type { LinkedLabel } from '../../../../../planning/issuables/lists/linked_labels.ts';
import type { JsonText } from '../../../../../platform/http/endpoint.ts';
import { dayPart } from '../../../parts/times/dates.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { label } from '../../../parts/label.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { relative, relativeTo } from '../../../parts/timestamp.ts';
import type { ListedMilestone } from '../../../parts/properties/milestone_link.ts';
import { selectBox } from '../../issuables/bulk/bulk_form.ts';
import { addressOf } from '../../issuables/list/filter_chips.ts';
import {
  type RowLinks,
  authorLink,
  fact,
  milestonePart,
  peoplePart,
} from '../../issuables/list/row_parts.ts';

type User = { id: number; name: string; username: string; avatar_url: string | null };

/** The fields of the JSON of an issue that a row shows. */
export type ListedIssue = {
  id: number;
  project_id: number;
  iid: number;
  title: string;
  description: string | null;
  state: 'opened' | 'closed';
  confidential: boolean;
  created_at: string;
  updated_at: string;
  closed_at: string | null;
  author: User;
  closed_by: User | null;
  assignees: User[];
  milestone: ListedMilestone | null;
  due_date: string | null;
  user_notes_count: number;
  upvotes: number;
  merge_requests_count: number;
  task_completion_status: { count: number; completed_count: number };
  /** Titles. */
  labels: string[];
  web_url: string;
  references: { full: string };
};

/** Reads the cached JSON of an issue. */
export const parseIssue = (text: JsonText): ListedIssue => parseText<ListedIssue>(text);

export type RowContext = RowLinks & {
  labels: readonly LinkedLabel[];
  /** Number of open issues that block this issue and that the viewer sees. */
  blockers?: number | undefined;
  /** `YYYY-MM-DD` */
  today: string;
  /** The list has issues of several projects. */
  showsProject: boolean;
  /** The row can be selected, for changes of several issues. */
  isSelectable?: boolean;
  /** Marks what a search found in a title. */
  markTitle?: (title: string) => Html;
};

const duePart = ({ due_date, state }: ListedIssue, today: string): Html | null => {
  if (due_date === null) return null;
  const isLate = state === 'opened' && due_date < today;
  return fact(
    html`${icon('clock', 'Due')} <span>${dayPart(due_date, today)}${isLate && ', overdue'}</span>`,
    'Due date',
    isLate ? 'bad' : '',
  );
};

const tasksPart = ({ task_completion_status: { count, completed_count } }: ListedIssue): Html | null =>
  count === 0
    ? null
    : fact(html`${icon('todo')} ${completed_count} of ${count} tasks`, 'Completed tasks', 'tasks');

const blockedPart = ({ state }: ListedIssue, blockers: number): Html | null =>
  blockers === 0 || state === 'closed'
    ? null
    : fact(html`${icon('warning')} Blocked`, `Blocked by ${spellCount(blockers, 'open issue')}`, 'bad');

const sidePart = (issue: ListedIssue, context: RowContext): Html => {
  const { today, blockers = 0 } = context;
  const { milestone, merge_requests_count: closers, user_notes_count: comments, upvotes } = issue;
  const commentCount = spellCount(comments, 'comment');
  return html`<span class="side">${blockedPart(issue, blockers)}${tasksPart(issue)}${milestonePart(milestone, context)}${duePart(
    issue,
    today,
  )}${closers > 0 && fact(html`${icon('merge-request', 'Merge requests')} ${closers}`, 'Merge requests')}${
    upvotes > 0 &&
    fact(
      html`<span aria-hidden="true">👍</span><span class="visually-hidden">Votes</span> ${upvotes}`,
      spellCount(upvotes, 'vote'),
    )
  }${fact(html`${icon('comment', 'Comments')} ${comments}`, commentCount)}${peoplePart('assignee', issue.assignees, context)}</span>`;
};

const metaPart = (issue: ListedIssue, context: RowContext): Html => {
  const { iid, state, author, closed_by, closed_at, created_at, references } = issue;
  const number = context.showsProject ? references.full : `#${iid}`;
  if (state === 'closed' && closed_at !== null) {
    return html`<span class="meta">${number} closed ${relative(Date.parse(closed_at))}${closed_by !== null && ` by ${closed_by.name}`}</span>`;
  }
  return html`<span class="meta">${number} opened ${relativeTo(created_at)} by ${authorLink(author, context)}</span>`;
};

/** Returns the path of the list of the issues of an issue's project. */
export const issueListPath = ({ references: { full } }: Pick<ListedIssue, 'references'>): string =>
  `/${full.slice(0, full.lastIndexOf('#'))}/issues`;

/** Returns the path of the page of an issue that a list shows. */
export const listedIssuePath = (issue: ListedIssue): string => `${issueListPath(issue)}/${issue.iid}`;

/** Renders an issue as a row of a list. */
export const issueRow = (issue: ListedIssue, context: RowContext): Html => {
  const isOpen = issue.state === 'opened';
  return html`<li><span class="lead status ${isOpen ? 'ok' : 'off'}">${context.isSelectable === true && selectBox(issue)}${
    isOpen ? icon('issue', 'Open') : icon('check-circle', 'Closed')
  }</span><span class="heading">${
    issue.confidential &&
    html`<span class="status wait" title="Confidential">${icon('lock', 'Confidential')}</span> `
  }<a class="title" href="${listedIssuePath(issue)}" data-row>${context.markTitle?.(issue.title) ?? issue.title}</a> ${context.labels.map(
    (one) => html`${label(one, addressOf(context.listPath, { labels: one.name }))} `,
  )}</span>${sidePart(issue, context)}${metaPart(issue, context)}</li>
`;
};
