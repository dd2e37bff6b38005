import { avatar } from '../avatar.ts';
import { type Html, html } from '../html.ts';
import { type IconName, icon } from '../icon.ts';
import { relative } from '../timestamp.ts';

/** A project as the API lists it. */
export type ListedProject = {
  id: number;
  name: string;
  path_with_namespace: string;
  description: string | null;
  avatar_url: string | null;
  star_count: number;
  forks_count: number;
  last_activity_at: string;
  /** Anonymous visitors get none: all that they see is public. */
  visibility?: string;
  archived?: boolean;
};

const visibilityIcons: Record<string, IconName> = { private: 'lock', internal: 'shield', public: 'globe' };

/** Renders the mark of a visibility. @param isNamed false if its name is next to it */
export const visibilityMark = (visibility: string, isNamed = true): Html =>
  icon(visibilityIcons[visibility] ?? 'lock', isNamed ? `Visibility: ${visibility}` : undefined);

/** Renders a path with its last part emphasized: bridges / span-planner. */
export const projectPathParts = (fullPath: string): Html => {
  const at = fullPath.lastIndexOf('/');
  return html`<span class="muted">${fullPath.slice(0, at).replaceAll('/', ' / ')} /</span> ${fullPath.slice(at + 1)}`;
};

const counts = ({ star_count, forks_count }: ListedProject): Html =>
  html`<span class="row tight" title="Stars">${icon('star', 'Stars')} ${star_count}</span><span class="row tight" title="Forks">${icon('fork', 'Forks')} ${forks_count}</span>`;

const item = (project: ListedProject, side: Html | null): Html => {
  const { path_with_namespace, name, avatar_url, description, visibility = 'public' } = project;
  const hasDescription = (description ?? '') !== '';
  return html`<li><span class="lead">${avatar({ name, avatar_url, size: 'medium', isSquare: true })}</span>
<span class="row tight"><a class="title" href="/${path_with_namespace}">${projectPathParts(path_with_namespace)}</a>${visibilityMark(visibility)}${
    project.archived === true && html`<span class="badge">Archived</span>`
  }</span>
<span class="meta">${hasDescription && html`<span class="clamp">${description}</span>`}<span>Updated ${relative(Date.parse(project.last_activity_at))}</span></span>
<span class="side">${side}${counts(project)}</span></li>
`;
};

/** Renders projects as a list. @param sideOf content at the right of a project */
export const projectList = (
  projects: readonly ListedProject[],
  { id, sideOf = () => null }: { id?: string; sideOf?: (project: ListedProject) => Html | null } = {},
): Html =>
  html`<ul class="list"${id !== undefined && html` id="${id}"`}>${projects.map((project) => item(project, sideOf(project)))}</ul>`;
