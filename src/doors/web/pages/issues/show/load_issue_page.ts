/** Loads the data of the page of an issue. The number of statements does not depend on its comments. */
import { sql } from 'kysely';
import { may } from '../../../../../core/access/may.ts';
import { visibleIssues } from '../../../../../core/access/visible.ts';
import { basicUser } from '../../../../../identity/users/json.ts';
import { type LinkedLabel, linkedLabels } from '../../../../../planning/issuables/lists/linked_labels.ts';
import { listParticipants } from '../../../../../planning/issuables/participants.ts';
import type { LoadedIssue } from '../../../../../planning/issues/find.ts';
import { type LinkedIssue, listLinkedIssues } from '../../../../../planning/issues/links/links.ts';
import { type TimeReport, loadTimeReport } from '../../../../../planning/time_tracking/load_time_report.ts';
import { issueNoun } from '../../../../../planning/issues/noun.ts';
import { type Page, pageRequest } from '../../../../../platform/http/page.ts';
import type { Visit } from '../../../page.ts';
import {
  type OwnRelation,
  loadOwnRelation,
  maxParticipants,
} from '../../../parts/properties/property_sections.ts';
import {
  type Person,
  type TimelineRights,
  findTimelineRights,
  loadTimeline,
} from '../../../parts/timeline/load_timeline.ts';
import type { TimelineContext } from '../../../parts/timeline/timeline_context.ts';
import { issuePath } from '../paths.ts';
import { type IssueRequests, loadRequests } from './related_requests.ts';

/** The most linked issues that are shown. */
const maxLinks = 100;

/** Rights of the viewer on the issue. */
export type Rights = TimelineRights & {
  update: boolean;
  admin: boolean;
  move: boolean;
  clone: boolean;
  destroy: boolean;
};

export type IssuePage = {
  loaded: LoadedIssue;
  timeline: TimelineContext;
  labels: LinkedLabel[];
  participants: Page<Person>;
  requests: IssueRequests;
  /** Linked issues that the viewer sees. */
  links: LinkedIssue[];
  own: OwnRelation;
  rights: Rights;
  /** The issue that this one was moved to; null: none, or the viewer does not see it. */
  movedTo: { full_path: string; iid: number } | null;
  timeReport: TimeReport;
};

const findMovedTo = async ({ call }: Visit, id: number | null): Promise<IssuePage['movedTo']> => {
  if (id === null) return null;
  const { rows } = await sql<{ full_path: string; iid: number }>`select projects.full_path, issues.iid
    from issues join projects on projects.id = issues.project_id
    where issues.id = ${id} and ${visibleIssues(call.viewer, call.platform.store.dialect)}`.execute(call.db);
  return rows[0] ?? null;
};

const findRights = (visit: Visit, loaded: LoadedIssue): Rights => {
  const { call } = visit;
  const { project, issue } = loaded;
  const isSignedIn = call.signedIn;
  return {
    ...findTimelineRights(visit, loaded),
    update: isSignedIn && issueNoun.mayUpdate(call, loaded),
    admin: isSignedIn && may(call.viewer, 'admin_issue', project),
    move: isSignedIn && may(call.viewer, 'move_issue', project) && issue.moved_to_id === null,
    clone: isSignedIn && may(call.viewer, 'move_issue', project),
    destroy: isSignedIn && may(call.viewer, 'destroy_issue', project),
  };
};

/** @param requested page of the timeline; undefined: the last */
export const loadIssuePage = async (
  visit: Visit,
  loaded: LoadedIssue,
  requested: number | undefined,
): Promise<IssuePage> => {
  const { call } = visit;
  const { target, issue } = loaded;
  const some = pageRequest({ per_page: maxParticipants });
  const [timeline, labels, participants, requests, links, own, movedTo, timeReport] = await Promise.all([
    loadTimeline(visit, loaded, { description: issue.description, requested, record: issue }),
    linkedLabels(call.db, 'Issue', [target.id]),
    listParticipants(call, loaded, some),
    loadRequests(visit, loaded),
    listLinkedIssues(call, target.id, maxLinks),
    loadOwnRelation(visit, target),
    findMovedTo(visit, issue.moved_to_id),
    loadTimeReport(call.db, target),
  ]);
  const rights = findRights(visit, loaded);
  return {
    loaded,
    timeline: {
      ...timeline,
      loaded,
      texts: issue,
      author: basicUser(issue.author, call),
      created_at: issue.created_at,
      rights,
      path: (below) => issuePath(loaded, below),
    },
    labels: labels.get(target.id) ?? [],
    participants,
    requests,
    links,
    own,
    rights,
    movedTo,
    timeReport,
  };
};
