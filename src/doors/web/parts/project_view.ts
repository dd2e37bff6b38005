/** Layout of every page of a project. */
import { may } from '../../../core/access/may.ts';
import { text } from '../../../platform/http/schema.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { form } from './form.ts';
import type { Html } from './html.ts';
import { sideView } from './nav.ts';
import { projectNouns } from '../places.ts';
import type { View, Visit } from '../page.ts';

/** Parameter of every page of a project: its full path. */
export const projectPath = { project: text({ maxLength: 1_000 }) };

export const projectPagePath = ({ full_path }: Pick<Project, 'full_path'>, below: string): string =>
  `/${full_path}/-/${below}`;

type Given = {
  project: Project;
  title: string;
  noun: (typeof projectNouns)[number]['noun'];
  live?: boolean;
};

export const projectView = (visit: Visit, given: Given, content: Html): View => {
  const { project, title, noun, live = false } = given;
  const links = projectNouns
    .filter(({ action }) => may(visit.call.viewer, action, project))
    .map((one) => ({ path: projectPagePath(project, one.noun), name: one.name, isHere: one.noun === noun }));
  return sideView({ label: 'Project', of: project.full_path, links, title, live }, content);
};

/** Renders a button that submits a form without fields. */
export const button = (
  visit: Visit,
  action: string,
  given: { label: string; name?: string; danger?: boolean },
): Html => {
  const { label, name, danger = false } = given;
  return form(visit, { action, submit: label, danger, ...(name !== undefined && { name }) });
};
