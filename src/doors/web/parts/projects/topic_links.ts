import type { Visit } from '../../page.ts';
import { type Html, html } from '../html.ts';

export const topicPath = (name: string): string => `/explore/projects/topics/${encodeURIComponent(name)}`;

/** Renders the topics of a project as links; null if there are none. */
export const topicLinks = ({ call }: Visit, topics: readonly string[]): Html | null => {
  if (topics.length === 0) return null;
  const isLinked = call.platform.hasPage('GET /explore/projects/topics/:name');
  const item = (name: string): Html =>
    isLinked
      ? html`<li><a class="badge" href="${topicPath(name)}">${name}</a></li>`
      : html`<li><span class="badge">${name}</span></li>`;
  return html`<ul class="buttons" aria-label="Topics">${topics.map(item)}</ul>`;
};
