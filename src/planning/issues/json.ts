import type { Call } from '../../core/access/call.ts';
import type { DatedSite } from '../../core/access/site.ts';
import { bool, object, string } from '../../platform/http/schema.ts';
import { timeStats, timeStatsShape } from '../time_tracking/json.ts';
import { jsonBuilder, jsonShapes } from '../issuables/fields.ts';
import { listedLabelsShape } from '../issuables/lists/linked_labels.ts';
import { issueFields } from './fields.ts';
import type { FullIssue } from './rows.ts';

const shapes = jsonShapes(issueFields);
const baseJson = jsonBuilder<FullIssue, typeof issueFields>(issueFields);

const references = object({ short: string, relative: string, full: string });

/** An issue in a list. */
export const issueShape = object({ ...shapes, time_stats: timeStatsShape, references });

/** An issue in a list that takes `with_labels_details`. */
export const detailedIssueShape = object({ ...issueShape.properties, labels: listedLabelsShape });

const links = object({ self: string, notes: string, award_emoji: string, project: string });

/** A single issue. */
export const singleIssueShape = object({
  ...shapes,
  time_stats: timeStatsShape,
  references,
  _links: links,
  subscribed: bool,
});

/** An issue as the target of a todo. */
export const todoIssueShape = object({ ...shapes, subscribed: bool });

const toReferences = ({ iid, project_path }: FullIssue) => ({
  short: `#${iid}`,
  relative: `#${iid}`,
  full: `${project_path}#${iid}`,
});

export const issueJson = (issue: FullIssue, site: DatedSite) => ({
  ...baseJson(issue, site),
  time_stats: timeStats(issue),
  references: toReferences(issue),
});

/** Fields that a single issue has and an issue in a list does not. */
export const singleIssueExtras = (
  { iid, project_id }: { iid: number; project_id: number },
  { baseUrl }: Pick<Call, 'baseUrl'>,
  subscribed: boolean,
) => {
  const project = `${baseUrl}/api/v4/projects/${project_id}`;
  const self = `${project}/issues/${iid}`;
  return {
    _links: { self, notes: `${self}/notes`, award_emoji: `${self}/award_emoji`, project },
    subscribed,
  };
};

export const singleIssueJson = (issue: FullIssue, site: DatedSite, subscribed: boolean) => ({
  ...issueJson(issue, site),
  ...singleIssueExtras(issue, site, subscribed),
});

export const todoIssueJson = (issue: FullIssue, site: DatedSite, subscribed: boolean) => ({
  ...baseJson(issue, site),
  subscribed,
});
