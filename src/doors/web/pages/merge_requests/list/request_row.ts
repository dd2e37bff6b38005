/** Rows of a list of merge requests. */
import { parseText } from '../../../../../planning/issuables/lists/json_cache.ts';
import type { LinkedLabel } from '../../../../../planning/issuables/lists/linked_labels.ts';
import type { JsonText } from '../../../../../platform/http/endpoint.ts';
import type { RowFacts } from '../../../../../review/merge_requests/lists/row_facts.ts';
import { pipelineMark } from '../../../parts/code/commit_line.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type IconName, icon } from '../../../parts/icon.ts';
import { label } from '../../../parts/label.ts';
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
import { spellCount } from '../../../../../platform/spell_count.ts';

type User = { name: string; username: string; avatar_url: string | null };

/** The fields of the JSON of a merge request that a row shows. */
export type ListedRequest = {
  id: number;
  project_id: number;
  iid: number;
  title: string;
  description: string | null;
  state: string;
  draft: boolean;
  has_conflicts: boolean;
  source_branch: string;
  target_branch: string;
  created_at: string;
  updated_at: string;
  merged_at: string | null;
  closed_at: string | null;
  author: User;
  merged_by: User | null;
  closed_by: User | null;
  assignees: User[];
  reviewers: User[];
  milestone: ListedMilestone | null;
  /** Titles. */
  labels: string[];
  web_url: string;
  user_notes_count: number;
  task_completion_status: { count: number; completed_count: number };
  references: { full: string };
};

/** Reads the cached JSON of a merge request. */
export const parseRequest = (text: JsonText): ListedRequest => parseText<ListedRequest>(text);

export type RowContext = RowLinks & {
  labels: readonly LinkedLabel[];
  facts: RowFacts | undefined;
  /** The list has merge requests of several projects. */
  showsProject: boolean;
  /** The row can be selected, for changes of several merge requests. */
  isSelectable?: boolean;
  /** Marks what a search found in a title. */
  markTitle?: (title: string) => Html;
};

const looks: Record<string, readonly [image: IconName, style: string, word: string]> = {
  opened: ['merge-request', 'ok', 'Open'],
  merged: ['merge-request', 'merged', 'Merged'],
  closed: ['cross-circle', 'bad', 'Closed'],
  locked: ['lock', 'off', 'Merging'],
};

const tasksPart = ({ task_completion_status: { count, completed_count } }: ListedRequest): Html | null =>
  count === 0
    ? null
    : fact(html`${icon('todo')} ${completed_count} of ${count} tasks`, 'Completed tasks', 'tasks');

/** Renders what keeps a merge request from being merged: conflicts, pipeline, approvals, discussions. */
export const readinessPart = (
  { has_conflicts }: Pick<ListedRequest, 'has_conflicts'>,
  { facts, isAnonymous }: Pick<RowContext, 'facts' | 'isAnonymous'>,
): Html => {
  const { approvals = 0, areChangesRequested = false, unresolved = 0, pipeline = null } = facts ?? {};
  return html`${
    has_conflicts && fact(html`${icon('warning')} Conflicts`, 'Conflicts with the target branch', 'bad')
  }${pipeline !== null && pipelineMark(pipeline.project, { ...pipeline, isLinked: !isAnonymous })}${
    approvals > 0 && fact(html`${icon('check')} ${spellCount(approvals, 'approval')}`, 'Approvals', 'ok')
  }${
    areChangesRequested &&
    fact(html`${icon('warning')} Changes requested`, 'A reviewer waits for changes', 'bad')
  }${
    unresolved > 0 &&
    fact(
      html`${icon('comment')} ${spellCount(unresolved, 'open thread')}`,
      `${spellCount(unresolved, 'thread')} not resolved`,
    )
  }`;
};

const sidePart = (request: ListedRequest, context: RowContext): Html => {
  const { milestone, user_notes_count: comments, reviewers, assignees } = request;
  return html`<span class="side">${readinessPart(request, context)}${tasksPart(request)}${milestonePart(milestone, context)}${fact(html`${icon('comment', 'Comments')} ${comments}`, spellCount(comments, 'comment'))}${peoplePart('assignee', assignees, context)}${peoplePart(
    'reviewer',
    reviewers,
    context,
  )}</span>`;
};

/** Names the target branch where it is not the usual one. */
const branchPart = ({ target_branch }: ListedRequest, facts: RowFacts | undefined): Html | null =>
  facts?.target?.default_branch === target_branch
    ? null
    : html` into ${icon('branch')} <code>${target_branch}</code>`;

const metaPart = (request: ListedRequest, context: RowContext): Html => {
  const { showsProject, facts } = context;
  const { iid, state, author, references, created_at } = request;
  const number = showsProject ? references.full : `!${iid}`;
  const { merged_at, merged_by, closed_at, closed_by } = request;
  const ended = { merged: [merged_at, merged_by], closed: [closed_at, closed_by] } as const;
  const [at = null, by = null] = state === 'merged' || state === 'closed' ? ended[state] : [];
  const what =
    at === null
      ? html`opened ${relativeTo(created_at)} by ${authorLink(author, context)}`
      : html`${state} ${relative(Date.parse(at))}${by !== null && ` by ${by.name}`}`;
  return html`<span class="meta">${number} ${what}${branchPart(request, facts)}</span>`;
};

/** Returns the path of the list of the merge requests of a merge request's project. */
export const requestListPath = ({ references: { full } }: Pick<ListedRequest, 'references'>): string =>
  `/${full.slice(0, full.lastIndexOf('!'))}/merge_requests`;

/** Address of a merge request's page. */
export const pathOf = (request: ListedRequest): string => `${requestListPath(request)}/${request.iid}`;

/** Renders a merge request as a row of a list. */
export const requestRow = (request: ListedRequest, context: RowContext): Html => {
  const { state, draft, title } = request;
  const isDraft = draft && state === 'opened';
  const [image, style, word] = looks[state] ?? ['merge-request', 'off', state];
  return html`<li><span class="lead status ${isDraft ? 'off' : style}">${context.isSelectable === true && selectBox(request)}${icon(image, isDraft ? 'Draft' : word)}</span><span class="heading"><a class="title" href="${pathOf(request)}" data-row>${context.markTitle?.(title) ?? title}</a> ${context.labels.map(
    (one) => html`${label(one, addressOf(context.listPath, { labels: one.name }))} `,
  )}</span>${sidePart(request, context)}${metaPart(request, context)}</li>
`;
};
