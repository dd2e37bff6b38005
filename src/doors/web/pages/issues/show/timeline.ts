/** The description, comments, threads and events of an issue. */
import { type Html, html } from '../../../parts/html.ts';
import { button } from '../../../parts/frame/project_view.ts';
import { hidden } from '../../../parts/form.ts';
import { icon } from '../../../parts/icon.ts';
import type { Visit } from '../../../page.ts';
import { noteCard } from '../../../parts/timeline/note_card.ts';
import { reactions } from '../../../parts/timeline/reactions.ts';
import { systemEvent } from '../../../parts/timeline/system_event.ts';
import { issuePath } from '../find.ts';
import { type IssuePage, type ShownNote, type ShownThread, threadsPerPage } from './load.ts';
import { baseOf } from '../base_text.ts';

/** Form that the script submits when a task is ticked. */
const tasksForm = (visit: Visit, { loaded, rights }: IssuePage): Html | null =>
  rights.update
    ? html`<form method="post" action="${issuePath(loaded, '/tasks')}" hidden data-tasks>${hidden(
        'authenticity_token',
        visit.csrfToken(),
      )}${hidden('base', baseOf(loaded.issue))}${hidden('line', '')}${hidden('done', '')}</form>`
    : null;

const descriptionCard = (visit: Visit, shown: IssuePage): Html => {
  const { loaded, description, awards, rights } = shown;
  const { issue } = loaded;
  const isEmpty = (issue.description ?? '').trim() === '';
  const action = rights.award ? issuePath(loaded, '/award_emoji') : null;
  return noteCard({
    id: 'description',
    author: issue.author,
    created_at: new Date(issue.created_at).toISOString(),
    content: isEmpty
      ? html`<p class="muted">No description</p>`
      : html`<div class="tasks-of">${description}${tasksForm(visit, shown)}</div>`,
    badge: 'Author',
    below: reactions(visit, { action, awards: awards.target }),
  });
};

const editLink = ({ loaded }: IssuePage, note: ShownNote): Html | null =>
  note.mayAdmin
    ? html`<a class="icon-link" href="${issuePath(loaded, `/notes/${note.id}/edit`)}" aria-label="Edit the comment of ${note.author.name}" title="Edit">${icon('pencil')}</a>`
    : null;

const authorBadge = ({ loaded }: IssuePage, { author }: ShownNote): string | null =>
  author.id === loaded.issue.author_id ? 'Author' : null;

const noteReactions = (visit: Visit, { awards, rights, loaded }: IssuePage, note: ShownNote): Html | null => {
  const action = rights.award ? issuePath(loaded, '/award_emoji') : null;
  return reactions(visit, { action, awards: awards.notes.get(note.id) ?? [], noteId: note.id });
};

const editedAt = ({ created_at, updated_at }: ShownNote): string | null =>
  updated_at === created_at ? null : updated_at;

const replyForm = (visit: Visit, { loaded }: IssuePage, thread: ShownThread): Html => {
  const id = `reply_${thread.id}`;
  return html`<details class="reply"><summary>${icon('reply')} Reply</summary><form method="post" action="${issuePath(loaded, '/notes')}">${hidden(
    'authenticity_token',
    visit.csrfToken(),
  )}${hidden('discussion_id', thread.id)}<label class="visually-hidden" for="${id}">Reply</label><textarea id="${id}" name="body" rows="3" required></textarea><div class="buttons"><button class="primary small">Reply</button></div></form></details>`;
};

const resolveButton = (visit: Visit, { loaded }: IssuePage, { id, notes }: ShownThread): Html => {
  const isResolved = isThreadResolved(notes);
  const action = issuePath(loaded, `/discussions/${id}/${isResolved ? 'unresolve' : 'resolve'}`);
  return button(visit, action, { label: isResolved ? 'Reopen thread' : 'Resolve thread' });
};

const isThreadResolved = (notes: readonly ShownNote[]): boolean =>
  notes.some(({ resolvable }) => resolvable) &&
  notes.every(({ resolvable, resolved }) => !resolvable || resolved === true);

const replyPart = (visit: Visit, shown: IssuePage, note: ShownNote): Html =>
  html`<li id="note_${note.id}"><div class="row"><a class="author" href="/${note.author.username}">${note.author.name}</a><a class="muted" href="#note_${note.id}"><time datetime="${note.created_at}" data-relative>${note.created_at.slice(0, 16).replace('T', ' ')} UTC</time></a>${
    authorBadge(shown, note) !== null && html`<span class="count">Author</span>`
  }<span class="end">${editLink(shown, note)}</span></div>${note.content}${noteReactions(visit, shown, note)}</li>`;

/** Renders the reactions to the first text of a thread, its replies, and what may be done with it. */
const talkPart = (visit: Visit, shown: IssuePage, thread: ShownThread, lead: ShownNote): Html => {
  const { rights } = shown;
  const replies = thread.notes.slice(1);
  const reacted = noteReactions(visit, shown, lead);
  const acts = html`${rights.comment && replyForm(visit, shown, thread)}${lead.resolvable && rights.resolve && resolveButton(visit, shown, thread)}`;
  if (replies.length === 0) return html`<div class="note-foot">${reacted}${acts}</div>`;
  const talk = html`<ul class="replies">${replies.map((note) => replyPart(visit, shown, note))}</ul>${acts.text !== '' && html`<div class="thread-actions">${acts}</div>`}`;
  const folded = html`<details class="folded"><summary>${replies.length} ${replies.length === 1 ? 'reply' : 'replies'}</summary>${talk}</details>`;
  return html`${reacted}${isThreadResolved(thread.notes) ? folded : talk}`;
};

const threadPart = (visit: Visit, shown: IssuePage, thread: ShownThread): Html => {
  const [lead] = thread.notes;
  if (lead === undefined) return html``;
  if (lead.system) return systemEvent(lead);
  const isResolved = isThreadResolved(thread.notes);
  const by = thread.notes.findLast(({ resolved_by }) => resolved_by)?.resolved_by?.name;
  return noteCard({
    id: `note_${lead.id}`,
    author: lead.author,
    created_at: lead.created_at,
    editedAt: editedAt(lead),
    content: lead.content,
    badge: isResolved ? `Resolved${by === undefined ? '' : ` by ${by}`}` : authorBadge(shown, lead),
    actions: editLink(shown, lead),
    below: talkPart(visit, shown, thread, lead),
  });
};

/** Renders links to the pages of a long timeline, the oldest first. */
const pagesPart = ({ loaded, page, total }: IssuePage): Html | null => {
  const last = Math.max(Math.ceil(total / threadsPerPage), 1);
  if (last === 1) return null;
  const link = (number: number, text: string): Html =>
    html`<a href="${issuePath(loaded)}?page=${number}">${text}</a>`;
  return html`<nav class="buttons timeline-pages" aria-label="Pages of the timeline">${page > 1 && link(Math.min(page - 1, last), 'Earlier comments')} <span class="muted">Page ${page} of ${last}</span> ${page < last && link(page + 1, 'Later comments')}</nav>`;
};

/** Renders the timeline of an issue. */
export const timelinePart = (visit: Visit, shown: IssuePage, after: Html | null): Html =>
  html`<div class="timeline">${descriptionCard(visit, shown)}${pagesPart(shown)}${shown.threads.map(
    (thread) => threadPart(visit, shown, thread),
  )}${shown.threads.length > 10 && pagesPart(shown)}${after}</div>`;
