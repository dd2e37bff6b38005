/** The checks of a merge request as lines: state, reason and remedy. */
import { may } from '../../../../../core/access/may.ts';
import { changesRequestedText } from '../../../../../review/merge_requests/approvals/approvals.ts';
import { judgePipeline } from '../../../../../review/merge_requests/merging/merge_checks.ts';
import type { Visit } from '../../../page.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { button, projectPagePath } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type IconName, icon } from '../../../parts/icon.ts';
import { formatDuration } from '../../../parts/times/format_duration.ts';
import { requestPath, requestsPath } from '../paths.ts';
import { continueLink, mayContinueThreads } from '../continued_thread_links.ts';
import { resolveAllPart } from '../resolve_all_threads_form.ts';
import { conflictText } from './conflict_text.ts';
import type { CheckLine } from './check_line.ts';
import type { OpenPage } from './load_overview.ts';
import { positionText } from './diff_position.ts';
import { protectedTargetLine } from './protected_target_line.ts';

const looks: Record<CheckLine['state'], readonly [IconName, string]> = {
  ok: ['check', 'Done'],
  bad: ['cross', 'Blocks the merge'],
  wait: ['clock', 'Pending'],
  off: ['info', 'For information'],
};

export const checkItem = ({ state, text, remedy }: CheckLine): Html => {
  const [image, word] = looks[state];
  return html`<li><span class="status ${state}">${icon(image, word)}</span><div>${text}</div><div class="remedy">${remedy}</div></li>`;
};

const quiet = (text: string | Html): Html => html` <span class="muted">· ${text}</span>`;

const draftLine = (visit: Visit, { loaded, rights }: OpenPage): CheckLine => ({
  state: 'bad',
  isBlocking: true,
  text: html`This is a draft${quiet('the author is still working on it')}`,
  remedy: rights.update && button(visit, requestPath(loaded, '/ready'), { label: 'Mark as ready' }),
});

const runButton = (visit: Visit, { loaded, rights }: OpenPage): Html | false =>
  rights.runPipeline && button(visit, requestPath(loaded, '/pipelines'), { label: 'Run pipeline' });

const pipelineWords = {
  passed: ['ok', 'passed'],
  failed: ['bad', 'failed'],
  running: ['wait', 'is running'],
} as const;

const otherWords: Partial<Record<string, string>> = {
  created: 'is pending',
  pending: 'is pending',
  canceled: 'was canceled',
  manual: 'waits for a manual job',
  skipped: 'was skipped',
};

/** Says what a failed pipeline means where the project does not require one that passed. */
const failedText = ({ loaded: { merge_request } }: OpenPage): string =>
  merge_request.merge_when_pipeline_succeeds === 1
    ? 'auto-merge waits until one passes'
    : 'this project does not require a passed pipeline';

const pipelineLine = (visit: Visit, shown: OpenPage): CheckLine => {
  const { call } = visit;
  const { checks, source } = shown;
  const { pipeline, mustSucceed, pipelineStatus } = checks;
  const verdict = judgePipeline(checks);
  if (verdict === 'none') {
    return { state: 'off', isBlocking: false, text: html`No pipeline`, remedy: runButton(visit, shown) };
  }
  const isBlocking = mustSucceed && verdict !== 'passed';
  const required = isBlocking && quiet('this project requires a passed pipeline');
  if (pipeline === null || source === null) {
    const text = html`A pipeline ${pipelineStatus === 'coming' ? 'is being created' : pipelineWords[verdict][1]}${required}`;
    return { state: pipelineWords[verdict][0], isBlocking, text };
  }
  const [state, word] = pipelineWords[verdict];
  const path = projectPagePath(source, `pipelines/${pipeline.id}`);
  const said = otherWords[pipeline.status] ?? word;
  const took =
    pipeline.duration === null
      ? null
      : html` <span class="muted">in ${formatDuration(pipeline.duration)}</span>`;
  return {
    state: state === 'bad' && !mustSucceed ? 'wait' : state,
    isBlocking,
    text: html`Pipeline ${call.signedIn ? html`<a href="${path}">#${pipeline.id}</a>` : `#${pipeline.id}`} ${said}${took}${shown.details?.dots}${required}${
      verdict === 'failed' && !mustSucceed && quiet(failedText(shown))
    }`,
    remedy:
      verdict === 'failed' &&
      call.signedIn &&
      html`<a class="button small" href="${path}">See failed jobs</a>`,
  };
};

const approveButton = (visit: Visit, { loaded, rights, approvedBy }: OpenPage): Html | false => {
  if (!rights.approve) return false;
  const ownId = visit.call.viewer.user_id;
  if (approvedBy.some(({ id }) => id === ownId)) {
    return button(visit, requestPath(loaded, '/unapprove'), { label: 'Revoke approval' });
  }
  const { head_sha } = loaded.merge_request;
  const query = head_sha === null ? '' : `?sha=${head_sha}`;
  return button(visit, requestPath(loaded, `/approve${query}`), { label: 'Approve' });
};

/** Links to what changed since the viewer's review; null: nothing did. */
const reviewedLink = ({ loaded, reviewed }: OpenPage): Html | null =>
  reviewed?.head_commit_sha
    ? quiet(
        html`<a href="${requestPath(loaded, `/diffs?start_sha=${reviewed.head_commit_sha}`)}">changes since my last review</a>`,
      )
    : null;

const approvalLine = (visit: Visit, shown: OpenPage): CheckLine => {
  const { approvedBy } = shown;
  const isApproved = approvedBy.length > 0;
  return {
    state: isApproved ? 'ok' : 'off',
    isBlocking: false,
    text: html`${
      isApproved
        ? html`Approved by ${approvedBy.map(({ name }) => name).join(', ')}`
        : html`Nobody has approved yet${quiet('approval is optional')}`
    }${reviewedLink(shown)}`,
    remedy: approveButton(visit, shown),
  };
};

/** Address of the first open thread: on this page if it shows it, else among the changes. */
const firstThread = ({ checks, timeline, loaded }: OpenPage): { path: string; where: string | null } => {
  const [first] = checks.unresolved;
  const id = first?.notes[0].id ?? 0;
  const thread = timeline.threads.find((one) => one.id === first?.id);
  const lead = thread?.notes[0];
  const position = lead?.position ?? null;
  const place = position === null ? [] : [positionText(position)];
  return {
    path: thread === undefined ? requestPath(loaded, `/diffs#note_${id}`) : `#note_${lead?.id ?? id}`,
    where: lead === undefined ? null : [...place, `by ${lead.author.name}`].join(', '),
  };
};

/**
 * Links to where a reviewer requested changes, or to their last comment; null: neither is on this page of the
 * timeline.
 */
const reviewLink = ({ timeline }: OpenPage, ids: ReadonlySet<number>): Html | null => {
  const notes = timeline.threads.flatMap((thread) => thread.notes).filter(({ author }) => ids.has(author.id));
  const request = notes.findLast(({ system, body }) => system && body === changesRequestedText);
  const note = request ?? notes.findLast(({ system }) => !system);
  return note === undefined
    ? null
    : html`<a class="button small" href="#note_${note.id}">Go to the review</a>`;
};

const reviewersLink = html`<a class="button small" href="#request_properties">See the reviewers</a>`;

const changesLine = (shown: OpenPage): CheckLine => {
  const { loaded, reviewers } = shown;
  const ids = new Set(
    reviewers.filter(({ state }) => state === 'requested_changes').map(({ user_id }) => user_id),
  );
  const names = loaded.merge_request.reviewers.filter(({ id }) => ids.has(id)).map(({ name }) => name);
  return {
    state: 'bad',
    isBlocking: true,
    text: html`${names.length === 0 ? 'A reviewer' : names.join(', ')} requested changes${quiet('until they approve, or their review is requested again')}`,
    remedy: reviewLink(shown, ids) ?? reviewersLink,
  };
};

const threadsLine = (visit: Visit, shown: OpenPage): CheckLine => {
  const { unresolved, mustResolve } = shown.checks;
  if (unresolved.length === 0) return { state: 'ok', isBlocking: false, text: html`No open threads` };
  const { path, where } = firstThread(shown);
  return {
    state: mustResolve ? 'bad' : 'wait',
    isBlocking: mustResolve,
    text: html`${spellCount(unresolved.length, 'thread')} ${unresolved.length === 1 ? 'is' : 'are'} open${where !== null && quiet(where)}`,
    remedy: html`<a class="button small" href="${path}">Go to ${unresolved.length === 1 ? 'it' : 'the first'}</a>${shown.rights.resolve && resolveAllPart(visit, { action: requestPath(shown.loaded, '/resolve_all'), count: unresolved.length })}${mayContinueThreads(visit, shown.loaded) && continueLink(shown.loaded)}`,
  };
};

const code = (text: string): Html => html`<code>${text}</code>`;

const blocked = (text: Html, remedy: Html | null = null): CheckLine => ({
  state: 'bad',
  isBlocking: true,
  text,
  remedy,
});

const resolveLink = ({ loaded, checks }: OpenPage): Html | null =>
  checks.mayResolve
    ? html`<a class="button small" href="${requestPath(loaded, '/conflicts')}">Resolve conflicts</a>`
    : null;

/** Says that branches do not merge; null if they do. */
const brokenBranches = (visit: Visit, shown: OpenPage): CheckLine | null => {
  const { source_branch, target_branch, checked_source_sha } = shown.loaded.merge_request;
  const { branches } = shown.checks;
  if (branches === 'unchecked') {
    return {
      state: 'wait',
      isBlocking: true,
      text: html`Checking for conflicts with ${code(target_branch)}`,
    };
  }
  if (branches === 'missing') {
    const name = checked_source_sha === null ? source_branch : target_branch;
    return blocked(html`The branch ${code(name)} does not exist${quiet('restore it to merge')}`);
  }
  if (branches === 'empty') {
    return blocked(
      html`Nothing to merge${quiet(html`${code(target_branch)} already contains all commits of ${code(source_branch)}`)}`,
    );
  }
  return branches === 'conflict' ? blocked(conflictText(visit, shown), resolveLink(shown)) : null;
};

const rebaseButton = (visit: Visit, { loaded, checks }: OpenPage): Html | false =>
  checks.mayRebase && button(visit, requestPath(loaded, '/rebase'), { label: 'Rebase' });

const branchesLine = (visit: Visit, shown: OpenPage): CheckLine => {
  const { loaded, checks } = shown;
  const { target_branch, rebase_in_progress } = loaded.merge_request;
  if (rebase_in_progress === 1) {
    return { state: 'wait', isBlocking: true, text: html`Rebasing onto ${code(target_branch)}` };
  }
  const broken = brokenBranches(visit, shown);
  if (broken !== null) return broken;
  const behind = checks.divergence?.behind ?? 0;
  const commits = spellCount(behind, 'commit');
  if (checks.needsRebase) {
    return {
      state: 'bad',
      isBlocking: true,
      text: html`${commits} behind ${code(target_branch)}${quiet('this project merges only branches that are up to date')}`,
      remedy: rebaseButton(visit, shown),
    };
  }
  return {
    state: 'ok',
    isBlocking: false,
    text: html`No conflicts with ${code(target_branch)}${behind > 0 && quiet(`${commits} behind, which is fine here`)}`,
    remedy: behind > 0 && rebaseButton(visit, shown),
  };
};

/** Says that the target branch was merged itself: a merge into it goes nowhere. */
const mergedTargetLine = (visit: Visit, { loaded, rights, stack }: OpenPage): CheckLine[] => {
  const { mergedTarget } = stack;
  if (mergedTarget === null) return [];
  const { target_branch: shown_target_branch } = loaded.merge_request;
  const { iid, target_branch } = mergedTarget;
  const query = new URLSearchParams({ target_branch, shown_target_branch }).toString();
  return [
    {
      state: 'wait',
      isBlocking: false,
      text: html`${code(shown_target_branch)} was merged into ${code(target_branch)} by <a href="${requestsPath(loaded.project)}/${iid}">!${iid}</a>${quiet(html`a merge into ${code(shown_target_branch)} does not reach ${code(target_branch)}`)}`,
      remedy:
        rights.update &&
        button(visit, requestPath(loaded, `?${query}`), { label: `Change target to ${target_branch}` }),
    },
  ];
};

/** Why the viewer may not merge. */
const refusal = (visit: Visit, { loaded: { project, merge_request } }: OpenPage): Html => {
  const { viewer, signedIn } = visit.call;
  if (!signedIn) return html`sign in to merge`;
  if (project.archived === 1) return html`the project is archived`;
  if (!may(viewer, 'push_code', project)) return html`requires the Developer role or higher`;
  return html`${code(merge_request.target_branch)} is protected, and your role may not merge into it`;
};

/** Lists the checks in the order in which people look at them. */
export const checkLines = (visit: Visit, shown: OpenPage): CheckLine[] => {
  const { checks, loaded } = shown;
  const { merge_error } = loaded.merge_request;
  return [
    ...(checks.isDraft ? [draftLine(visit, shown)] : []),
    pipelineLine(visit, shown),
    ...(shown.details?.lines ?? []),
    approvalLine(visit, shown),
    ...(checks.areChangesRequested ? [changesLine(shown)] : []),
    threadsLine(visit, shown),
    branchesLine(visit, shown),
    ...mergedTargetLine(visit, shown),
    ...protectedTargetLine(shown),
    ...(merge_error === null
      ? []
      : [{ state: 'wait' as const, isBlocking: false, text: html`${merge_error}` }]),
    ...(checks.mayMerge
      ? []
      : [
          {
            state: 'off' as const,
            isBlocking: false,
            text: html`You may not merge${quiet(refusal(visit, shown))}`,
          },
        ]),
  ];
};
