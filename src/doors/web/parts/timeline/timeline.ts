/** The comments, threads and events of an issue, a merge request or a snippet. */
import type { Visit } from '../../page.ts';
import { type Html, html } from '../html.ts';
import { editorTemplate } from '../markdown_editor.ts';
import { activityNav, askedOfTimeline } from './activity_nav.ts';
import { changeTarget } from './change_target.ts';
import { type ShownThread, threadsPerPage } from './load_timeline.ts';
import type { TimelineContext } from './timeline_context.ts';
import { isUnresolved, threadPart } from './thread_part.ts';
import { threadSteps } from './thread_steps.ts';

/** Renders links to the pages of a long timeline. A comment keeps its page, in either order. */
const pagesPart = (visit: Visit, context: TimelineContext): Html | null => {
  const { path, page, total, order, pageParam = 'page' } = context;
  const last = Math.max(Math.ceil(total / threadsPerPage), 1);
  if (last === 1) return null;
  const link = (number: number, text: string): Html =>
    html`<a href="${path('')}?${pageParam}=${number}${askedOfTimeline(visit)}">${text}</a>`;
  const earlier = page > 1 && link(Math.min(page - 1, last), 'Earlier comments');
  const later = page < last && link(page + 1, 'Later comments');
  const [before, after] = order === 'asc' ? [earlier, later] : [later, earlier];
  return html`<nav class="buttons timeline-pages" aria-label="Pages of the timeline">${before} <span class="muted">Page ${page} of ${last}</span> ${after}</nav>`;
};

const startOf = ({ notes }: ShownThread): number => Date.parse(notes[0]?.created_at ?? '');

/** Renders the threads of this page with the events between them, the oldest first. Events after the last are on the last page. */
const entries = (visit: Visit, context: TimelineContext): Html[] => {
  const { threads, page, total } = context;
  const events = context.filter === 'only_comments' ? [] : (context.events ?? []);
  const parts: Html[] = [];
  const [first] = threads;
  // Events before the first thread of a later page are on an earlier page.
  let next = page > 1 && first !== undefined ? events.filter(({ at }) => at < startOf(first)).length : 0;
  for (const thread of threads) {
    for (; (events[next]?.at ?? Infinity) < startOf(thread); next += 1) {
      const event = events[next];
      if (event !== undefined) parts.push(event.part);
    }
    parts.push(threadPart(visit, context, thread));
  }
  const isLast = page * threadsPerPage >= total;
  return isLast ? [...parts, ...events.slice(next).map(({ part }) => part)] : parts;
};

/**
 * Renders comments and events in order.
 * @param before content above them; `after` is at the position of the next entry
 */
export const timelinePart = (
  visit: Visit,
  context: TimelineContext,
  { before = null, after }: { before?: Html | null; after: Html | null },
): Html => {
  const { threads, order, loaded } = context;
  const oldestFirst = entries(visit, context);
  const pages = pagesPart(visit, context);
  const pagesBelow = threads.length > 10 && pages;
  const content =
    order === 'asc'
      ? html`${pages}${oldestFirst}${pagesBelow}${after}`
      : html`${pages}${after}${oldestFirst.toReversed()}${pagesBelow}`;
  return html`<div class="timeline"${visit.call.signedIn && html` data-comments="${changeTarget(loaded)}"`}>${before}${activityNav(visit, context)}${content}${threads.some(isUnresolved) && threadSteps}</div>${editorTemplate}`;
};
