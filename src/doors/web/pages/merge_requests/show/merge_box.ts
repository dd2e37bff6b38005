/** The merge box: whether the request can be merged, why not, and the form that merges it. */
import { may } from '../../../../../core/access/may.ts';
import { isMergeable, judgePipeline } from '../../../../../review/merge_requests/merging/merge_checks.ts';
import { waitsForChecks } from '../../../../../review/merge_requests/merging/scheduled/merge_when_pipeline_succeeds.ts';
import type { Visit } from '../../../page.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { hidden } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { requestPath } from '../paths.ts';
import type { CheckLine } from './check_line.ts';
import type { OpenPage } from './load_overview.ts';
import { checkItem, checkLines } from './merge_check_lines.ts';
import { scheduledPart } from './scheduled_merge.ts';

const numbers = ['no', 'one', 'two', 'three', 'four', 'five'];

const heading = ({ checks, loaded }: OpenPage, lines: readonly CheckLine[]): string => {
  if (loaded.merge_request.merge_when_pipeline_succeeds === 1) {
    return waitsForChecks(loaded.merge_request)
      ? 'Merges when all checks pass'
      : 'Merges when the pipeline succeeds';
  }
  const count = lines.filter(({ isBlocking }) => isBlocking).length;
  if (count > 0) {
    return `Ready to merge once ${numbers[count] ?? count} ${count === 1 ? 'thing is' : 'things are'} done`;
  }
  return checks.mayMerge ? 'Ready to merge' : 'Ready to be merged';
};

const checkedAgainst = ({ loaded }: OpenPage): Html | null => {
  const { target_branch, checked_target_sha: sha } = loaded.merge_request;
  return sha === null
    ? null
    : html`<span class="muted small end">checked against <code>${target_branch}</code> at <code>${sha.slice(0, 8)}</code></span>`;
};

const tick = (name: string, content: Html, isChecked: boolean): Html =>
  html`<span class="tick">${hidden(name, '0')}<input type="checkbox" id="merge_${name}" name="${name}" value="1"${isChecked && html` checked`}><label for="merge_${name}">${content}</label></span>`;

const removeTick = (visit: Visit, { loaded, source }: OpenPage): Html | null => {
  const { source_branch, force_remove_source_branch } = loaded.merge_request;
  const canRemove =
    source !== null && source.default_branch !== source_branch && may(visit.call.viewer, 'push_code', source);
  return canRemove
    ? tick(
        'should_remove_source_branch',
        html`Delete <code>${source_branch}</code>`,
        force_remove_source_branch === 1,
      )
    : null;
};

const squashTick = ({ loaded }: OpenPage, commits: number): Html | null => {
  const { squash, project_squash_option: option } = loaded.merge_request;
  if (option === 'never' || commits < 2) return null;
  if (option === 'always') {
    return html`<span class="muted">${spellCount(commits, 'commit')} will be squashed</span>`;
  }
  return tick('squash', html`Squash ${spellCount(commits, 'commit')}`, squash === 1);
};

const messageField = (name: string, label: string, value: string): Html =>
  html`<div class="field"><label for="${name}">${label}</label><textarea id="${name}" name="${name}" rows="6">
${value}</textarea></div>`;

const messagesPart = ({ messages, loaded }: OpenPage, commits: number): Html | null => {
  if (messages === null) return null;
  const { merge_method } = loaded.project;
  const canSquash = loaded.merge_request.project_squash_option !== 'never' && commits > 1;
  const fields = html`${merge_method !== 'ff' && messageField('merge_commit_message', 'Message of the merge commit', messages.merge)}${canSquash && messageField('squash_commit_message', 'Message if squashed', messages.squash)}`;
  return fields.text === ''
    ? null
    : html`<details class="messages"><summary>Edit message</summary>${fields}</details>`;
};

const mergeButtons = ({ checks }: OpenPage): Html => {
  const canMerge = isMergeable(checks);
  const isWaiting = !canMerge || judgePipeline(checks) === 'running';
  const canWait = isWaiting && checks.branches === 'mergeable' && !checks.needsRebase;
  const merge = html`<button class="good"${!canMerge && html` disabled`}>${icon('merge-request')} Merge</button>`;
  const wait =
    canWait &&
    html`<button${!canMerge && html` class="primary"`} name="auto_merge" value="1">Merge when all checks pass</button>`;
  return html`<span class="row end">${wait}${merge}</span>`;
};

const mergeForm = (visit: Visit, shown: OpenPage, commits: number): Html => {
  const { loaded } = shown;
  const { head_sha } = loaded.merge_request;
  return html`<form method="post" action="${requestPath(loaded, '/merge')}" class="merge-form">${hidden(
    'authenticity_token',
    visit.csrfToken(),
  )}${head_sha !== null && hidden('sha', head_sha)}<div class="row">${removeTick(visit, shown)}${squashTick(shown, commits)}${messagesPart(shown, commits)}${mergeButtons(
    shown,
  )}</div></form>`;
};

/** Renders the box of an open merge request. @param commits how many it has */
export const mergeBox = (visit: Visit, shown: OpenPage, commits: number): Html => {
  const lines = checkLines(visit, shown);
  const isBlocked = lines.some(({ isBlocking }) => isBlocking);
  const isWaiting = shown.loaded.merge_request.merge_when_pipeline_succeeds === 1;
  const foot = isWaiting
    ? scheduledPart(visit, shown, commits)
    : shown.checks.mayMerge && mergeForm(visit, shown, commits);
  return html`<section class="card merge-box${isBlocked && ' blocked'}" aria-labelledby="merge_box_title"><header><h2 id="merge_box_title">${heading(shown, lines)}</h2>${checkedAgainst(
    shown,
  )}</header><ul class="checks">${lines.map(checkItem)}</ul>${foot}</section>`;
};

/** Returns whether the box changes without an action of the viewer. */
export const isBoxMoving = ({ checks, loaded }: Pick<OpenPage, 'checks' | 'loaded'>): boolean =>
  checks.branches === 'unchecked' ||
  loaded.merge_request.rebase_in_progress === 1 ||
  loaded.merge_request.merge_when_pipeline_succeeds === 1 ||
  judgePipeline(checks) === 'running';
