import type { DatedSite } from '../../core/access/site.ts';
import { basicUser, basicUserShape } from '../../identity/users/json.ts';
import { array, bool, int, nullable, object, optional, string } from '../../platform/http/schema.ts';
import { textColor } from '../../projects/labels/colors.ts';
import type { LabelRow } from '../../projects/labels/label_row.ts';
import { milestoneJson, milestoneShape } from '../../projects/milestones/json.ts';
import type { BoardOwner } from './owner.ts';
import type { Board, BoardList } from './queries.ts';

const labelShape = object({
  id: int,
  name: string,
  color: string,
  text_color: string,
  description: nullable(string),
});

export const listShape = object({
  id: int,
  label: nullable(labelShape),
  position: int,
  max_issue_count: int,
  max_issue_weight: int,
  limit_metric: nullable(string),
  milestone: optional(milestoneShape),
  assignee: optional(basicUserShape),
});

export const boardShape = object({
  id: int,
  name: string,
  hide_backlog_list: bool,
  hide_closed_list: bool,
  project: nullable(
    object({
      id: int,
      name: string,
      name_with_namespace: string,
      path: string,
      path_with_namespace: string,
      http_url_to_repo: string,
      web_url: string,
    }),
  ),
  group: nullable(object({ id: int, name: string, web_url: string })),
  lists: array(listShape),
  milestone: nullable(milestoneShape),
  assignee: nullable(basicUserShape),
  labels: array(labelShape),
  weight: nullable(int),
});

const labelJson = ({ id, title, color, description }: LabelRow) => ({
  id,
  name: title,
  color,
  text_color: textColor(color),
  description,
});

export const listJson = (list: BoardList, site: DatedSite) => ({
  id: list.id,
  label: list.label === null ? null : labelJson(list.label),
  position: list.position,
  max_issue_count: list.max_issue_count,
  max_issue_weight: 0,
  limit_metric: null,
  ...(list.milestone !== null && { milestone: milestoneJson(list.milestone, site) }),
  ...(list.assignee !== null && { assignee: basicUser(list.assignee, site) }),
});

/** @param namespaceName full name of the project's namespace */
export const boardJson = (
  board: Board,
  { project, group }: BoardOwner,
  { namespaceName, ...site }: DatedSite & { namespaceName: string },
) => ({
  id: board.id,
  name: board.name,
  hide_backlog_list: board.hide_backlog_list === 1,
  hide_closed_list: board.hide_closed_list === 1,
  project:
    project === null
      ? null
      : {
          id: project.id,
          name: project.name,
          name_with_namespace: `${namespaceName} / ${project.name}`,
          path: project.path,
          path_with_namespace: project.full_path,
          http_url_to_repo: `${site.baseUrl}/${project.full_path}.git`,
          web_url: `${site.baseUrl}/${project.full_path}`,
        },
  group:
    group === null
      ? null
      : { id: group.id, name: group.name, web_url: `${site.baseUrl}/groups/${group.full_path}` },
  lists: board.lists.map((list) => listJson(list, site)),
  milestone: board.milestone === null ? null : milestoneJson(board.milestone, site),
  assignee: board.assignee === null ? null : basicUser(board.assignee, site),
  labels: board.labels.map(labelJson),
  weight: null,
});
