/** The foot of the merge box while auto-merge is set: its options, and buttons that cancel it or merge at once. */
import { isMergeable } from '../../../../../review/merge_requests/merging/merge_checks.ts';
import { parseScheduledParams } from '../../../../../review/merge_requests/merging/scheduled/merge_when_pipeline_succeeds.ts';
import type { Visit } from '../../../page.ts';
import { hidden } from '../../../parts/form.ts';
import { button } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { requestPath } from '../paths.ts';
import type { OpenPage } from './load_overview.ts';

/** Options that auto-merge was set with, or those of the merge request. */
type ScheduledOptions = {
  squash: boolean;
  /** The merge request has several commits, and they are squashed. */
  isSquashed: boolean;
  isSourceRemoved: boolean;
  /** Edited messages; absent: the default messages. */
  messages: { merge_commit_message?: string; squash_commit_message?: string };
};

/** Reads the options of the scheduled merge. @param commits number of commits of the merge request */
const readOptions = ({ loaded: { merge_request } }: OpenPage, commits: number): ScheduledOptions => {
  const { project_squash_option: option, force_remove_source_branch } = merge_request;
  const {
    squash = merge_request.squash === 1,
    should_remove_source_branch: isSourceRemoved = force_remove_source_branch === 1,
    merge_commit_message,
    squash_commit_message,
  } = parseScheduledParams(merge_request);
  return {
    squash,
    isSquashed: commits > 1 && option !== 'never' && (squash || option === 'always'),
    isSourceRemoved,
    messages: {
      ...(merge_commit_message !== undefined && { merge_commit_message }),
      ...(squash_commit_message !== undefined && { squash_commit_message }),
    },
  };
};

const messageTexts = {
  merge_commit_message: 'Message of the merge commit',
  squash_commit_message: 'Message of the squashed commit',
} as const;

const messagesPart = ({ messages }: ScheduledOptions): Html | null => {
  const shown = Object.entries(messages);
  if (shown.length === 0) return null;
  return html`<details class="messages"><summary>Show message</summary>${shown.map(
    ([name, message]) =>
      html`<p>${messageTexts[name as keyof ScheduledOptions['messages']]}</p><p class="lines exact mono small">${message}</p>`,
  )}</details>`;
};

const mergeNowForm = (visit: Visit, { loaded }: OpenPage, options: ScheduledOptions): Html => {
  const { head_sha, project_squash_option } = loaded.merge_request;
  const { squash, isSourceRemoved, messages } = options;
  const fields = {
    authenticity_token: visit.csrfToken(),
    ...(head_sha !== null && { sha: head_sha }),
    ...(project_squash_option !== 'never' && { squash: squash ? '1' : '0' }),
    should_remove_source_branch: isSourceRemoved ? '1' : '0',
    ...messages,
  };
  return html`<form method="post" action="${requestPath(loaded, '/merge')}">${Object.entries(fields).map(
    ([name, value]) => hidden(name, value),
  )}<button class="small">Merge now</button></form>`;
};

/** Renders the foot of the box. @param commits number of commits of the merge request */
export const scheduledPart = (visit: Visit, shown: OpenPage, commits: number): Html => {
  const { loaded, rights, checks } = shown;
  const { merge_user, author_id, source_branch } = loaded.merge_request;
  const options = readOptions(shown, commits);
  const isAuthor = author_id === visit.call.viewer.user_id && rights.update;
  const cancel =
    (checks.mayMerge || isAuthor) &&
    button(visit, requestPath(loaded, '/cancel_merge'), { label: 'Cancel auto-merge' });
  const mergeNow = checks.mayMerge && isMergeable(checks) && mergeNowForm(visit, shown, options);
  const squashed = options.isSquashed && html` · squashes ${spellCount(commits, 'commit')}`;
  const removed = options.isSourceRemoved && html` · deletes <code>${source_branch}</code>`;
  return html`<div class="merge-form"><div class="row between"><span>${merge_user === null ? 'Auto-merge' : html`Auto-merge set by ${merge_user.name}`}${squashed}${removed}</span>${checks.mayMerge && messagesPart(options)}<span class="row">${cancel}${mergeNow}</span></div></div>`;
};
