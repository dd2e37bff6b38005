import { type Html, html } from '../html.ts';
import type { Visit } from '../../page.ts';

type ProjectLink = {
  /** Full path of the project. */
  project: string;
  /** The page below the project's own: `/-/pipelines`; empty for its own. */
  page: string;
  text: string;
  /** Accessible name, if the text is ambiguous. */
  label?: string;
};

/** Renders a link to a page of a project; null if the route list has no such page. */
export const projectLink = ({ call }: Visit, { project, page, text, label }: ProjectLink): Html | null =>
  call.platform.hasPage(`GET /-/projects/:project${page.replace(/^\/-/, '')}`)
    ? html`<a href="/${project}${page}"${label !== undefined && html` aria-label="${label}"`}>${text}</a>`
    : null;
