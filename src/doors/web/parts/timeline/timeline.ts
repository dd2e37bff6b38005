/** The description, comments, threads and events of an issue or a merge request. */
import type { LoadedTarget } from '../../../../planning/issuables/target.ts';
import type { Visit } from '../../page.ts';
import { hidden } from '../form.ts';
import { button } from '../frame/project_layout.ts';
import { type Html, html } from '../html.ts';
import { icon } from '../icon.ts';
import { type Texts, baseOf } from './edit_conflicts.ts';
import {
  type Person,
  type ShownNote,
  type ShownPosition,
  type ShownThread,
  type TalkRights,
  type Timeline,
  threadsPerPage,
} from './load_timeline.ts';
import { noteCard } from './note_card.ts';
import { relativeTo } from '../timestamp.ts';
import { reactions } from './reactions.ts';
import { changeTarget } from './change_target.ts';
import { systemEvent } from './system_event.ts';

/** An event that is no note. Time in milliseconds. */
export type TimelineEvent = { at: number; part: Html };

/** A timeline and the facts of its record that its parts show. */
export type Talk = Timeline & {
  loaded: LoadedTarget;
  texts: Texts;
  author: Person;
  /** Milliseconds. */
  created_at: number;
  rights: TalkRights & { update: boolean };
  /** Returns an address below the record's. */
  path: (below: string) => string;
  /** Further events, the oldest first, such as pushes. */
  events?: readonly TimelineEvent[];
  /** Renders where a thread on a difference is. */
  positionPart?: (position: ShownPosition, noteId: number) => Html;
};

/** Form that the script submits when a task is ticked. */
const tasksForm = (visit: Visit, { path, texts, rights }: Talk): Html | null =>
  rights.update
    ? html`<form method="post" action="${path('/tasks')}" hidden data-tasks>${hidden(
        'authenticity_token',
        visit.csrfToken(),
      )}${hidden('base', baseOf(texts))}${hidden('line', '')}${hidden('done', '')}</form>`
    : null;

const awardPath = ({ rights, path }: Talk): string | null => (rights.award ? path('/award_emoji') : null);

export const descriptionCard = (visit: Visit, talk: Talk): Html => {
  const { description, awards, texts, author, created_at } = talk;
  const isEmpty = (texts.description ?? '').trim() === '';
  return noteCard({
    id: 'description',
    author,
    created_at: new Date(created_at).toISOString(),
    content: isEmpty
      ? html`<p class="muted">No description</p>`
      : html`<div class="tasks-of">${description}${tasksForm(visit, talk)}</div>`,
    badge: 'Author',
    below: reactions(visit, { action: awardPath(talk), awards: awards.target }),
  });
};

const editLink = ({ path }: Talk, note: ShownNote): Html | null =>
  note.mayAdmin
    ? html`<a class="icon-link" href="${path(`/notes/${note.id}/edit`)}" aria-label="Edit the comment of ${note.author.name}" title="Edit">${icon('pencil')}</a>`
    : null;

const authorBadge = ({ author: { id } }: Talk, { author }: ShownNote): string | null =>
  author.id === id ? 'Author' : null;

const noteReactions = (visit: Visit, talk: Talk, note: ShownNote): Html | null =>
  reactions(visit, {
    action: awardPath(talk),
    awards: talk.awards.notes.get(note.id) ?? [],
    noteId: note.id,
  });

const editedAt = ({ created_at, updated_at }: ShownNote): string | null =>
  updated_at === created_at ? null : updated_at;

const replyForm = (visit: Visit, { path }: Talk, thread: ShownThread): Html => {
  const id = `reply_${thread.id}`;
  return html`<details class="reply"><summary>${icon('reply')} Reply</summary><form method="post" action="${path('/notes')}">${hidden(
    'authenticity_token',
    visit.csrfToken(),
  )}${hidden('discussion_id', thread.id)}<label class="visually-hidden" for="${id}">Reply</label><textarea id="${id}" name="body" rows="3" required></textarea><div class="buttons"><button class="primary small">Reply</button></div></form></details>`;
};

const isThreadResolved = (notes: readonly ShownNote[]): boolean =>
  notes.some(({ resolvable }) => resolvable) &&
  notes.every(({ resolvable, resolved }) => !resolvable || resolved === true);

const resolveButton = (visit: Visit, { path }: Talk, { id, notes }: ShownThread): Html => {
  const isResolved = isThreadResolved(notes);
  const action = path(`/discussions/${id}/${isResolved ? 'unresolve' : 'resolve'}`);
  return button(visit, action, { label: isResolved ? 'Reopen thread' : 'Resolve thread' });
};

const replyPart = (visit: Visit, talk: Talk, note: ShownNote): Html =>
  html`<li id="note_${note.id}"><div class="row"><a class="author" href="/${note.author.username}">${note.author.name}</a><a class="muted" href="#note_${note.id}">${relativeTo(note.created_at)}</a>${
    authorBadge(talk, note) !== null && html`<span class="count">Author</span>`
  }<span class="end">${editLink(talk, note)}</span></div>${note.content}${noteReactions(visit, talk, note)}</li>`;

/** Renders the reactions to the first comment of a thread, its replies and its actions. */
const talkPart = (visit: Visit, talk: Talk, thread: ShownThread, lead: ShownNote): Html => {
  const { rights } = talk;
  const replies = thread.notes.slice(1);
  const reacted = noteReactions(visit, talk, lead);
  const acts = html`${rights.comment && replyForm(visit, talk, thread)}${lead.resolvable && rights.resolve && resolveButton(visit, talk, thread)}`;
  if (replies.length === 0) return html`<div class="note-foot">${reacted}${acts}</div>`;
  const answers = html`<ul class="replies">${replies.map((note) => replyPart(visit, talk, note))}</ul>${acts.text !== '' && html`<div class="thread-actions">${acts}</div>`}`;
  const folded = html`<details class="folded"><summary>${replies.length} ${replies.length === 1 ? 'reply' : 'replies'}</summary>${answers}</details>`;
  return html`${reacted}${isThreadResolved(thread.notes) ? folded : answers}`;
};

/** The state of a resolvable thread, or the author of the comment. */
const threadBadge = (talk: Talk, { notes }: ShownThread, lead: ShownNote): string | null => {
  if (!isThreadResolved(notes)) return authorBadge(talk, lead);
  const by = notes.findLast(({ resolved_by }) => resolved_by)?.resolved_by?.name;
  return `Resolved${by === undefined ? '' : ` by ${by}`}`;
};

const threadPart = (visit: Visit, talk: Talk, thread: ShownThread): Html => {
  const [lead] = thread.notes;
  if (lead === undefined) return html``;
  if (lead.system) return systemEvent(lead);
  const position = lead.position ?? null;
  const place = position === null ? null : talk.positionPart?.(position, lead.id);
  return noteCard({
    id: `note_${lead.id}`,
    author: lead.author,
    created_at: lead.created_at,
    editedAt: editedAt(lead),
    content: html`${place}${lead.content}`,
    badge: threadBadge(talk, thread, lead),
    isInternal: lead.internal,
    actions: editLink(talk, lead),
    below: talkPart(visit, talk, thread, lead),
  });
};

/** Renders links to the pages of a long timeline, the oldest first. */
const pagesPart = ({ path, page, total }: Talk): Html | null => {
  const last = Math.max(Math.ceil(total / threadsPerPage), 1);
  if (last === 1) return null;
  const link = (number: number, text: string): Html => html`<a href="${path('')}?page=${number}">${text}</a>`;
  return html`<nav class="buttons timeline-pages" aria-label="Pages of the timeline">${page > 1 && link(Math.min(page - 1, last), 'Earlier comments')} <span class="muted">Page ${page} of ${last}</span> ${page < last && link(page + 1, 'Later comments')}</nav>`;
};

const startOf = ({ notes }: ShownThread): number => Date.parse(notes[0]?.created_at ?? '');

/** Renders the threads of this page with the events between them. Events after the last are on the last page. */
const entries = (visit: Visit, talk: Talk): Html[] => {
  const { threads, events = [], page, total } = talk;
  const parts: Html[] = [];
  const [first] = threads;
  // What happened before the first thread of a later page is on an earlier one.
  let next = page > 1 && first !== undefined ? events.filter(({ at }) => at < startOf(first)).length : 0;
  for (const thread of threads) {
    for (; (events[next]?.at ?? Infinity) < startOf(thread); next += 1) {
      const event = events[next];
      if (event !== undefined) parts.push(event.part);
    }
    parts.push(threadPart(visit, talk, thread));
  }
  const isLast = page * threadsPerPage >= total;
  return isLast ? [...parts, ...events.slice(next).map(({ part }) => part)] : parts;
};

/** Renders comments and events in their order. @param before stands above them, `after` below */
export const timelinePart = (
  visit: Visit,
  talk: Talk,
  { before = null, after }: { before?: Html | null; after: Html | null },
): Html =>
  html`<div class="timeline"${visit.call.signedIn && html` data-comments="${changeTarget(talk.loaded)}"`}>${before}${pagesPart(talk)}${entries(visit, talk)}${talk.threads.length > 10 && pagesPart(talk)}${after}</div>`;
