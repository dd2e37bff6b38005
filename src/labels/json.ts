import { bool, int, nullable, object, optional, string } from '../http/schema.ts';
import { textColor } from './colors.ts';
import type { Counts } from './counts.ts';
import type { LabelRow } from './queries.ts';

export const labelShape = object({
  id: int,
  name: string,
  color: string,
  text_color: string,
  description: nullable(string),
  open_issues_count: optional(int),
  closed_issues_count: optional(int),
  open_merge_requests_count: optional(int),
  subscribed: bool,
  priority: nullable(int),
  is_project_label: bool,
});

/** What of a label depends on who looks. `counts` null: not asked for. */
export type LabelView = { counts: Counts | null; subscribed: boolean };

export const labelJson = (label: LabelRow, { counts, subscribed }: LabelView) => ({
  id: label.id,
  name: label.title,
  color: label.color,
  text_color: textColor(label.color),
  description: label.description,
  ...(counts !== null && {
    open_issues_count: counts.opened,
    closed_issues_count: counts.closed,
    open_merge_requests_count: counts.open_merge_requests,
  }),
  subscribed,
  priority: label.priority,
  is_project_label: label.project_id !== null,
});
