import { bool, int, nullable, object, optional, string } from '../../platform/http/schema.ts';
import { textColor } from './colors.ts';
import type { Counts } from './counts.ts';
import type { LabelRow } from './label_row.ts';

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

/** The parts of a label that depend on the caller. `counts` null: not requested. */
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
