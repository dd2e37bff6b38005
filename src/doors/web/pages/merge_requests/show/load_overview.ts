/** Loads the data of the overview of a merge request. */
import { getMerger } from '../../../../../review/merge_requests/merging/merge.ts';
import { may } from '../../../../../core/access/may.ts';
import { basicUser, basicUsersById } from '../../../../../identity/users/json.ts';
import { type LinkedLabel, linkedLabels } from '../../../../../planning/issuables/lists/linked_labels.ts';
import { listParticipants } from '../../../../../planning/issuables/participants.ts';
import { type Page, pageRequest } from '../../../../../platform/http/page.ts';
import { type Project, loadProject } from '../../../../../projects/projects/find.ts';
import { loadApprovals, mayApprove } from '../../../../../review/merge_requests/approvals/approvals.ts';
import { lastReviewedVersion } from '../../../../../review/merge_requests/approvals/last_review.ts';
import { type Reviewer, listReviewers } from '../../../../../review/merge_requests/approvals/reviewers.ts';
import { countOwnDrafts } from '../../../../../review/merge_requests/drafts/draft_notes.ts';
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { listClosedIssues } from '../../../../../review/merge_requests/issues/closes_issues.ts';
import {
  type MergeMessages,
  loadDefaultMessages,
} from '../../../../../review/merge_requests/merging/default_messages.ts';
import {
  type MergeChecks,
  isMergeable,
  loadMergeChecks,
} from '../../../../../review/merge_requests/merging/merge_checks.ts';
import {
  type Stack,
  type StackedRequest,
  loadStack,
} from '../../../../../review/merge_requests/stacks/load_stack.ts';
import { type TimeReport, loadTimeReport } from '../../../../../planning/time_tracking/load_time_report.ts';
import { type RowFacts, loadRowFacts } from '../../../../../review/merge_requests/lists/row_facts.ts';
import {
  type MergedInto,
  findMergedTarget,
} from '../../../../../review/merge_requests/stacks/merged_target.ts';
import {
  type StackObstacle,
  loadMergeableBelow,
} from '../../../../../review/merge_requests/stacks/merge_stack.ts';
import type { VersionRow } from '../../../../../review/merge_requests/versions/json.ts';
import { listVersions } from '../../../../../review/merge_requests/versions/queries.ts';
import { mergeRequestNoun } from '../../../../../review/merge_requests/noun.ts';
import type { Visit } from '../../../page.ts';
import {
  type OwnRelation,
  loadOwnRelation,
  maxParticipants,
} from '../../../parts/properties/property_sections.ts';
import {
  type Person,
  type ShownThread,
  type TimelineRights,
  findTimelineRights,
  loadTimeline,
} from '../../../parts/timeline/load_timeline.ts';
import type { TimelineContext } from '../../../parts/timeline/timeline_context.ts';
import { hidden } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { prepareSuggestions } from '../changes/load_suggestions.ts';
import { suggestionParts } from '../changes/suggestion_card.ts';
import { continueLink, mayContinueThreads } from '../continued_thread_links.ts';
import { requestPath } from '../paths.ts';
import { maxComparedVersions } from '../changes/load_changes.ts';
import type { CheckLine } from './check_line.ts';
import { positionPart } from './diff_position.ts';
import { loadThreadCode } from './thread_code.ts';
import { loadVersionEvents } from './version_events.ts';

export type Rights = TimelineRights & {
  update: boolean;
  admin: boolean;
  approve: boolean;
  destroy: boolean;
  runPipeline: boolean;
};

/** An issue of this instance, or one of an external tracker. */
export type ClosedIssue = { iid?: number; id: number | string; title: string; references?: { full: string } };

type OwnStack = Stack & {
  /** What can be merged together with this one, from the lowest on. */
  mergeableBelow: StackedRequest[];
  /** Why the stack cannot be merged from here; null: it can, or the viewer may not merge. */
  obstacle: StackObstacle | null;
  /** What rows of lists show of the others. */
  facts: Map<number, RowFacts>;
  /** Where the target branch was merged, if no open request is below; null: nowhere. */
  mergedTarget: MergedInto | null;
};

export type RequestPage = {
  loaded: LoadedMergeRequest;
  /** null if it was deleted, or the viewer may not see its pipelines or push to it. */
  source: Project | null;
  /** null if the request is not open. */
  checks: MergeChecks | null;
  /** null if there is nothing that the viewer may merge. */
  messages: MergeMessages | null;
  stack: OwnStack;
  approvedBy: Person[];
  reviewers: Reviewer[];
  /** The version that the viewer has reviewed, as a reviewer or by an approval, if there is a newer one. */
  reviewed: VersionRow | null;
  /** Number of pending comments of the viewer. */
  drafts: number;
  timeline: TimelineContext;
  labels: LinkedLabel[];
  participants: Page<Person>;
  closes: Page<ClosedIssue>;
  own: OwnRelation;
  rights: Rights;
  timeReport: TimeReport;
};

/** The page of an open request. */
export type OpenPage = RequestPage & {
  checks: MergeChecks;
  /** The stages of the head pipeline, and further lines about it; null if the viewer may open none. */
  details: { dots: Html | null; lines: CheckLine[] } | null;
};

const findRights = (visit: Visit, loaded: LoadedMergeRequest, source: Project | null): Rights => {
  const { call } = visit;
  const { project } = loaded;
  const isSignedIn = call.signedIn;
  return {
    ...findTimelineRights(visit, loaded),
    update: isSignedIn && mergeRequestNoun.mayUpdate(call, loaded),
    admin: isSignedIn && may(call.viewer, 'admin_merge_request', project),
    approve: isSignedIn && mayApprove(call, loaded),
    destroy: isSignedIn && may(call.viewer, 'destroy_merge_request', project),
    runPipeline: isSignedIn && source !== null && may(call.viewer, 'create_pipeline', source),
  };
};

const loadSource = async (
  { call }: Visit,
  { merge_request: { source_project_id: id }, project }: LoadedMergeRequest,
): Promise<Project | null> => {
  if (id === null) return null;
  return id === project.id ? project : await loadProject(call.db, id);
};

const loadApprovers = async ({ call }: Visit, { target }: LoadedMergeRequest): Promise<Person[]> => {
  const approvals = await loadApprovals(call.db, target.id);
  const ids = approvals.map(({ user_id }) => user_id);
  const users = await basicUsersById(call.db, ids);
  return ids.flatMap((id) => {
    const user = users.get(id);
    return user === undefined ? [] : [basicUser(user, call)];
  });
};

/** Of others than reviewers and approvers, the tab of the changes knows whether they reviewed it. */
const loadReviewed = async (
  { call }: Visit,
  loaded: LoadedMergeRequest,
  approvedBy: readonly Person[],
): Promise<VersionRow | null> => {
  const { id, reviewers, state } = loaded.merge_request;
  const isReviewer = [...reviewers, ...approvedBy].some((user) => user.id === call.viewer.user_id);
  if (!isReviewer || state !== 'opened') return null;
  const { items } = await listVersions(call.db, id, pageRequest({ per_page: maxComparedVersions }));
  return await lastReviewedVersion(call, loaded, items);
};

const loadClosed = async ({ call }: Visit, loaded: LoadedMergeRequest): Promise<Page<ClosedIssue>> => {
  const { items, total } = await listClosedIssues(call, loaded, pageRequest({ per_page: maxParticipants }));
  return { items: items.map(({ bytes }) => JSON.parse(bytes.toString('utf8')) as ClosedIssue), total };
};

/** Prepares the suggestions of the comments. @returns a function that renders the suggestions of one comment */
const loadSuggestionsPart = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  threads: readonly ShownThread[],
): Promise<(noteId: number) => Html | null> => {
  const notes = threads.flatMap((thread) => thread.notes);
  const suggestions = await prepareSuggestions(visit, loaded, notes);
  return (noteId) => {
    const own = suggestions.get(noteId);
    if (own === undefined) return null;
    const fields = html`${hidden('authenticity_token', visit.csrfToken())}${hidden('return_to', `${requestPath(loaded)}#note_${noteId}`)}`;
    const action = requestPath(loaded, '/diffs/suggestions');
    return suggestionParts({ action, fields, canSelect: false }, own);
  };
};

const loadTalk = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  { rights, requested }: { rights: Rights; requested: number | undefined },
): Promise<TimelineContext> => {
  const { merge_request } = loaded;
  const { description } = merge_request;
  const path = (below: string): string => requestPath(loaded, below);
  const [timeline, events] = await Promise.all([
    loadTimeline(visit, loaded, { description, requested, record: merge_request }),
    loadVersionEvents(visit, loaded),
  ]);
  const [code, suggestionsPart] = await Promise.all([
    loadThreadCode(visit, loaded, timeline.threads),
    loadSuggestionsPart(visit, loaded, timeline.threads),
  ]);
  return {
    ...timeline,
    events,
    loaded,
    texts: merge_request,
    author: basicUser(merge_request.author, visit.call),
    created_at: merge_request.created_at,
    rights,
    seenHead: merge_request.head_sha,
    path,
    positionPart: (position, noteId) =>
      html`${positionPart(position, { path: `${path('/diffs')}#note_${noteId}`, head: merge_request.head_sha })}${code.get(noteId) ?? null}`,
    suggestionsPart,
    ...(mayContinueThreads(visit, loaded) && { threadLink: (id: string) => continueLink(loaded, id) }),
  };
};

/** Loads the stack, and what of it can be merged together with this one. */
const loadOwnStack = async (
  { call }: Visit,
  loaded: LoadedMergeRequest,
  checks: MergeChecks | null,
): Promise<OwnStack> => {
  const stack = await loadStack(call.db, loaded);
  const { below, above } = stack;
  const facts = await loadRowFacts(
    call,
    [...below, ...above].map(({ id }) => id),
  );
  const mergedTarget = below.length === 0 ? await findMergedTarget(call.db, loaded) : null;
  const shown = { ...stack, facts, mergedTarget };
  if (below.length === 0 || checks?.mayMerge !== true) {
    return { ...shown, mergeableBelow: [], obstacle: null };
  }
  if (!isMergeable(checks)) {
    return { ...shown, mergeableBelow: [], obstacle: { iid: loaded.merge_request.iid, reason: 'checks' } };
  }
  const { requests, obstacle } = await loadMergeableBelow(call, loaded, below);
  return { ...shown, mergeableBelow: requests, obstacle };
};

const loadMessages = async ({ call }: Visit, loaded: LoadedMergeRequest): Promise<MergeMessages> => {
  const { platform, baseUrl } = call;
  return await loadDefaultMessages({ platform, loaded, merger: getMerger(call), baseUrl });
};

/**
 * @param loaded with a checked merge status
 * @param requested page of the timeline; undefined: the last
 */
export const loadRequestPage = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  requested: number | undefined,
): Promise<RequestPage> => {
  const { call } = visit;
  const { target, merge_request } = loaded;
  const source = await loadSource(visit, loaded);
  const rights = findRights(visit, loaded, source);
  const isOpen = merge_request.state === 'opened';
  const checks = isOpen ? await loadMergeChecks(call, loaded) : null;
  const some = pageRequest({ per_page: maxParticipants });
  const [
    messages,
    stack,
    approvedBy,
    reviewers,
    drafts,
    timeline,
    labels,
    participants,
    closes,
    own,
    timeReport,
  ] = await Promise.all([
    checks?.mayMerge === true ? loadMessages(visit, loaded) : null,
    loadOwnStack(visit, loaded, checks),
    loadApprovers(visit, loaded),
    merge_request.reviewers.length === 0 ? { items: [] } : listReviewers(call.db, target, some),
    countOwnDrafts(call, loaded),
    loadTalk(visit, loaded, { rights, requested }),
    linkedLabels(call.db, 'MergeRequest', [target.id]),
    listParticipants(call, loaded, some),
    loadClosed(visit, loaded),
    loadOwnRelation(visit, target),
    loadTimeReport(call.db, target),
  ]);
  return {
    loaded,
    source,
    checks,
    messages,
    stack,
    approvedBy,
    reviewers: reviewers.items,
    reviewed: await loadReviewed(visit, loaded, approvedBy),
    drafts,
    timeline,
    labels: labels.get(target.id) ?? [],
    participants,
    closes,
    own,
    rights,
    timeReport,
  };
};
