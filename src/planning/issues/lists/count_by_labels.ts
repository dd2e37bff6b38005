/** Counts the issues of a board's columns from the counters of labels, which triggers keep exact. */
import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { canSeeConfidential } from '../../../core/access/visible.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { readMany } from '../../issuables/lists/run_long_read.ts';
import type { ColumnCount, Columns } from '../../issuables/lists/column_counts.ts';

/** `links`: of issues of any state, in all projects that have the label. */
type LabelTotal = { label_id: number; opened: number; links: number };

const loadTotals = async (
  call: Call,
  { id }: Project,
  labelIds: readonly number[],
): Promise<LabelTotal[]> => {
  const { rows } = await sql<LabelTotal>`
    select label_id, sum(case when project_id = ${id} then opened_issues else 0 end) as opened,
      sum(opened_issues + closed_issues) as links
    from label_counts where ${call.platform.store.dialect.oneOf('label_id', labelIds)}
    group by label_id`.execute(call.db);
  return rows.toSorted((a, b) => b.opened - a.opened);
};

/**
 * Counts the open issues that have any of the labels: issues with the most frequent label, plus issues found through
 * the links of the other labels. null: reading all open issues is cheaper.
 */
const countLabelled = async (
  call: Call,
  project: Project,
  [most, ...others]: readonly LabelTotal[],
): Promise<number | null> => {
  const read = others.filter(({ opened }) => opened > 0);
  if (most === undefined || read.length === 0) return most?.opened ?? 0;
  const maxRecords = read.reduce((sum, { links }) => sum + links, 0);
  if (maxRecords > project.opened_issues) return null;
  const { oneOf, indexedBy } = call.platform.store.dialect;
  const ids = read.map(({ label_id }) => label_id);
  const query = sql<{ total: number }>`
    select count(distinct led.target_id) as total
    from label_links as led cross join issues ${indexedBy('issues_linked')}
    where led.target_type = 'Issue' and ${oneOf('led.label_id', ids)} and issues.id = led.target_id
      and issues.id > 0 and issues.project_id = ${project.id} and issues.state = 'opened' and issues.deleted_at is null
      and not exists (select 1 from label_links where label_links.target_type = 'Issue'
        and label_links.target_id = led.target_id and label_links.label_id = ${most.label_id})`;
  const [row] = await readMany(call, { query, maxRecords });
  return most.opened + (row?.total ?? 0);
};

/**
 * Counts all open issues of a project by their labels. null if the counters are not exact for the viewer, who does not
 * see every issue, or for columns of assignees and milestones.
 */
export const countByLabels = async (
  call: Call,
  project: Project,
  { ids, hasRest }: Columns,
): Promise<ColumnCount[] | null> => {
  const { label_ids, assignee_ids, milestone_ids } = ids;
  const isExact = project.opened_confidential_issues === 0 || canSeeConfidential(call.viewer, project);
  if (!isExact || assignee_ids.length + milestone_ids.length > 0) return null;
  const totals = label_ids.length === 0 ? [] : await loadTotals(call, project, label_ids);
  const labelled = hasRest ? await countLabelled(call, project, totals) : 0;
  if (labelled === null) return null;
  return [
    ...totals.map(({ label_id: id, opened: total }) => ({ kind: 'label' as const, id, total })),
    ...(hasRest ? [{ kind: 'rest' as const, id: 0, total: project.opened_issues - labelled }] : []),
  ];
};
