/** What the pages of a project have around them. */
import { may } from '../../../access/may.ts';
import { text } from '../../../http/schema.ts';
import type { Project } from '../../../projects/find.ts';
import { form } from '../../form.ts';
import type { Html } from '../../html.ts';
import { sideView } from '../../nav.ts';
import type { View, Visit } from '../../page.ts';

/** The parameter of every page here: the full path of the project. */
export const projectPath = { project: text({ maxLength: 1_000 }) };

/** Where the pages of a project are served; people see them below its own path. */
export const served = '/-/projects/:project';

export const pathOf = ({ full_path }: Pick<Project, 'full_path'>, below: string): string =>
  `/${full_path}/-/${below}`;

const nouns = [
  ['pipelines', 'Pipelines', 'read_pipeline'],
  ['jobs', 'Jobs', 'read_job'],
  ['pipeline_schedules', 'Schedules', 'read_pipeline'],
  ['environments', 'Environments', 'read_environment'],
  ['variables', 'Variables', 'admin_variable'],
  ['triggers', 'Triggers', 'admin_trigger'],
  ['runners', 'Runners', 'admin_runner'],
  ['job_token_scope', 'Job tokens', 'admin_project'],
] as const;

type Given = {
  project: Project;
  title: string;
  noun: (typeof nouns)[number][0];
  live?: boolean;
};

export const projectView = (visit: Visit, given: Given, content: Html): View => {
  const { project, title, noun, live = false } = given;
  const links = nouns
    .filter(([, , action]) => may(visit.call.viewer, action, project))
    .map(([one, name]) => ({ path: pathOf(project, one), name, isHere: one === noun }));
  return sideView({ label: 'Project', of: project.full_path, links, title, live }, content);
};

/** A button that does something at once. */
export const button = (
  visit: Visit,
  action: string,
  given: { label: string; name?: string; danger?: boolean },
): Html => {
  const { label, name, danger = false } = given;
  return form(visit, { action, submit: label, danger, ...(name !== undefined && { name }) });
};
