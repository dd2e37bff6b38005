import type { Project } from '../../../../projects/projects/find.ts';
import { type Html, html } from '../html.ts';
import { codePath } from './code_path.ts';

/** Renders the path of a file or folder as the heading of a page, with a link to each folder above. */
export const pathCrumbs = (project: Project, ref: string, path: string): Html => {
  const parts = path === '' ? [] : path.split('/');
  const above = parts.slice(0, -1).map((part, at) => {
    const href = codePath(project, 'tree', ref, parts.slice(0, at + 1).join('/'));
    return html`<a href="${href}">${part}</a><span class="muted">/</span>`;
  });
  const root = html`<a href="${codePath(project, 'tree', ref)}">${project.path}</a>`;
  if (parts.length === 0) return html`<h1 class="path-crumbs"><span>${project.path}</span></h1>`;
  return html`<h1 class="path-crumbs">${root}<span class="muted">/</span>${above}<span>${parts.at(-1)}</span></h1>`;
};
