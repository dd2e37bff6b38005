/** Invariants of the stored rows, whatever was running when the process died. */
import type { Place, Row } from './process.ts';

/** A move closes the source issue and copies its history. */
const neverMoved = `moved_to_id is null and not exists (select 1 from issues o where o.moved_to_id = issues.id)`;

/** A clone copies comments, without events, and then says where it is from. */
const copiedByClone = `(target_type = 'Issue' and exists (select 1 from notes source where source.target_type = 'Issue'
  and source.target_id = notes.target_id and source.system = 1 and source.body like 'cloned from %'
  and source.id > notes.id))`;

/** Each query selects rows that must not exist. */
const faults: { [what: string]: string } = {
  'issue without the event of its creation': `select id from issues where not exists (select 1 from events
    where target_type = 'Issue' and target_id = issues.id and kind = 'issue.created')`,
  'event of an issue that is not there': `select id, kind from events where target_type = 'Issue'
    and not exists (select 1 from issues where issues.id = events.target_id)`,
  'issue whose events do not lead to its state': `select id, state from issues where ${neverMoved} and
    case state when 'closed' then 1 else 0 end <> (
      select coalesce(sum(case kind when 'issue.closed' then 1 when 'issue.reopened' then -1 else 0 end), 0)
      from events where target_type = 'Issue' and target_id = issues.id)`,
  'issue closed without a time, or opened with one': `select id from issues where
    (state = 'closed') <> (closed_at is not null)`,
  'issue whose time spent is not the sum of its log': `select id, total_time_spent from issues where
    total_time_spent <> (select coalesce(sum(time_spent), 0) from timelogs
      where target_type = 'Issue' and target_id = issues.id)`,
  'issue that counts other comments than everybody may read': `select id, user_notes_count from issues where
    user_notes_count <> (select count(*) from notes
      where target_type = 'Issue' and target_id = issues.id and system = 0 and internal = 0)`,
  'comment without the event of its creation': `select id from notes where system = 0 and not exists (
    select 1 from events where target_type = 'Note' and target_id = notes.id and kind = 'note.created')
    and not (target_type = 'Issue' and exists (select 1 from issues o where o.moved_to_id = notes.target_id))
    and not ${copiedByClone}`,
  'change of state without its note': `select id from issues where ${neverMoved} and
    (select count(*) from events where target_type = 'Issue' and target_id = issues.id
      and kind in ('issue.closed', 'issue.reopened')) <>
    (select count(*) from notes where target_type = 'Issue' and target_id = issues.id and system = 1
      and (body in ('closed', 'reopened') or body like 'closed via %'))`,
  'issue that a search would not find': `select id from issues where not exists (
    select 1 from issue_search where issue_id = issues.id)`,
  'project whose iids have a gap, or a sequence that is off': `select project_id, last from iid_sequences s where
    kind = 'issue' and (last <> (select count(*) from issues where issues.project_id = s.project_id)
    or last <> (select coalesce(max(iid), 0) from issues where issues.project_id = s.project_id))`,
  'project whose totals are off': `select * from (
    select project_id, opened_issues, closed_issues, opened_confidential_issues, closed_confidential_issues,
      (select count(*) from issues i where i.project_id = c.project_id and deleted_at is null and state = 'opened') as opened,
      (select count(*) from issues i where i.project_id = c.project_id and deleted_at is null and state = 'closed') as closed,
      (select count(*) from issues i where i.project_id = c.project_id and deleted_at is null and state = 'opened'
        and confidential = 1) as opened_confidential,
      (select count(*) from issues i where i.project_id = c.project_id and deleted_at is null and state = 'closed'
        and confidential = 1) as closed_confidential
    from project_counters c) counted
    where opened_issues <> opened or closed_issues <> closed or opened_confidential_issues <> opened_confidential
      or closed_confidential_issues <> closed_confidential`,
};

const requestFaults: { [what: string]: string } = {
  'merge request without the event of its creation': `select id from merge_requests where not exists (select 1
    from events where target_type = 'MergeRequest' and target_id = merge_requests.id
      and kind = 'merge_request.created')`,
  'event of a merge request that is not there': `select id, kind from events where target_type = 'MergeRequest'
    and not exists (select 1 from merge_requests where merge_requests.id = events.target_id)`,
  'merge request closed or merged without a time, or with one that it should not have': `select id, state
    from merge_requests where (state = 'closed') <> (closed_at is not null)
    or (state = 'merged') <> (merged_at is not null)`,
  'merge request whose version is not the latest of its own': `select id, diff_id from merge_requests where
    coalesce(diff_id, 0) <> (select coalesce(max(d.id), 0) from merge_request_diffs d
      where d.merge_request_id = merge_requests.id)
    or coalesce(head_sha, '') <> coalesce((select d.head_commit_sha from merge_request_diffs d
      where d.id = merge_requests.diff_id), '')`,
  'version without its texts': `select id from merge_request_diffs where not exists (
    select 1 from merge_request_diff_texts where diff_id = merge_request_diffs.id)`,
  'merge request whose time spent is not the sum of its log': `select id, total_time_spent from merge_requests
    where total_time_spent <> (select coalesce(sum(time_spent), 0) from timelogs
      where target_type = 'MergeRequest' and target_id = merge_requests.id)`,
  'merge request that counts other comments than everybody may read': `select id, user_notes_count from merge_requests where
    user_notes_count <> (select count(*) from notes
      where target_type = 'MergeRequest' and target_id = merge_requests.id and system = 0 and internal = 0)`,
  'merge request that a search would not find': `select id from merge_requests where not exists (
    select 1 from merge_request_search where merge_request_id = merge_requests.id)`,
  'project whose iids of merge requests have a gap, or a sequence that is off': `select project_id, last
    from iid_sequences s where kind = 'merge_request' and
    (last <> (select count(*) from merge_requests m where m.project_id = s.project_id)
    or last <> (select coalesce(max(iid), 0) from merge_requests m where m.project_id = s.project_id))`,
  'label that counts other records than carry it': `select counted.label_id, counted.project_id from (
    select label_id, project_id, sum(opened_issues) as opened, sum(closed_issues) as closed,
      sum(opened_merge_requests) as requests
    from (
      select label_id, project_id, opened_issues, closed_issues, opened_merge_requests from label_counts
      union all
      select label_id, project_id, case when state = 'opened' then -1 else 0 end,
        case when state = 'closed' then -1 else 0 end, 0
      from label_links join issues on issues.id = target_id where target_type = 'Issue' and deleted_at is null
      union all
      select label_id, project_id, 0, 0, case when state = 'opened' then -1 else 0 end
      from label_links join merge_requests on merge_requests.id = target_id
      where target_type = 'MergeRequest' and deleted_at is null
    ) both_ways group by label_id, project_id) counted
    where opened <> 0 or closed <> 0 or requests <> 0`,
  'project whose totals of merge requests are off': `select * from (
    select project_id, opened_merge_requests, closed_merge_requests, merged_merge_requests,
      (select count(*) from merge_requests m where m.project_id = c.project_id and deleted_at is null
        and state in ('opened', 'locked')) as opened,
      (select count(*) from merge_requests m where m.project_id = c.project_id and deleted_at is null
        and state = 'closed') as closed,
      (select count(*) from merge_requests m where m.project_id = c.project_id and deleted_at is null
        and state = 'merged') as merged
    from project_counters c) counted
    where opened_merge_requests <> opened or closed_merge_requests <> closed or merged_merge_requests <> merged`,
  'project that counts other stars than it has': `select project_id, star_count from project_counters
    where star_count <> (select count(*) from project_stars s where s.project_id = project_counters.project_id)`,
};

const onlySqlite: { [what: string]: string } = {
  damage: `select * from pragma_integrity_check where integrity_check <> 'ok'`,
  'reference to what is not there': 'select * from pragma_foreign_key_check',
};

/** Returns the violations; empty if there are none. */
export const findFaults = async (
  { query }: Pick<Place, 'query'>,
  engine: 'sqlite' | 'postgres',
): Promise<string[]> => {
  const found: string[] = [];
  for (const [what, text] of Object.entries({
    ...faults,
    ...requestFaults,
    ...(engine === 'sqlite' && onlySqlite),
  })) {
    const rows: Row[] = await query(text);
    if (rows.length > 0) found.push(`${rows.length} x ${what}: ${JSON.stringify(rows.slice(0, 3))}`);
  }
  return found;
};
