/** The comments, threads and events of an issue, a merge request or a snippet. */
import type { Visit } from '../../page.ts';
import { type Html, html } from '../html.ts';
import { editorTemplate } from '../markdown_editor.ts';
import { activityNav } from './activity_nav.ts';
import { changeTarget } from './change_target.ts';
import { type ShownThread, threadsPerPage } from './load_timeline.ts';
import type { TimelineContext } from './timeline_context.ts';
import { isUnresolved, threadPart } from './thread_part.ts';
import { threadSteps } from './thread_steps.ts';

/** Renders links to the pages of a long timeline, the oldest first. */
const pagesPart = ({ path, page, total, filter, pageParam = 'page' }: TimelineContext): Html | null => {
  const last = Math.max(Math.ceil(total / threadsPerPage), 1);
  if (last === 1) return null;
  const link = (number: number, text: string): Html =>
    html`<a href="${path('')}?${pageParam}=${number}${filter !== 'all_notes' && `&activity_filter=${filter}`}">${text}</a>`;
  return html`<nav class="buttons timeline-pages" aria-label="Pages of the timeline">${page > 1 && link(Math.min(page - 1, last), 'Earlier comments')} <span class="muted">Page ${page} of ${last}</span> ${page < last && link(page + 1, 'Later comments')}</nav>`;
};

const startOf = ({ notes }: ShownThread): number => Date.parse(notes[0]?.created_at ?? '');

/** Renders the threads of this page with the events between them. Events after the last are on the last page. */
const entries = (visit: Visit, context: TimelineContext): Html[] => {
  const { threads, page, total } = context;
  const events = context.filter === 'only_comments' ? [] : (context.events ?? []);
  const parts: Html[] = [];
  const [first] = threads;
  // What happened before the first thread of a later page is on an earlier one.
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

/** Renders comments and events in their order. @param before stands above them, `after` below */
export const timelinePart = (
  visit: Visit,
  context: TimelineContext,
  { before = null, after }: { before?: Html | null; after: Html | null },
): Html =>
  html`<div class="timeline"${visit.call.signedIn && html` data-comments="${changeTarget(context.loaded)}"`}>${before}${activityNav(context)}${pagesPart(context)}${entries(visit, context)}${context.threads.length > 10 && pagesPart(context)}${after}${context.threads.some(isUnresolved) && threadSteps}</div>${editorTemplate}`;
