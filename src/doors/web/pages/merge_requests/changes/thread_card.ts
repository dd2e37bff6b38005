/** Cards of threads and drafts between the lines. */
import { toShortId } from '../../../../../code/repository/commits/json.ts';
import { avatar } from '../../../parts/avatar.ts';
import { hidden } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { replyEditor } from '../../../parts/markdown_editor.ts';
import { noteTexts } from '../../../parts/timeline/edit_conflicts.ts';
import { lastEditPart } from '../../../parts/timeline/last_edit.ts';
import { noteHeading } from '../../../parts/timeline/note_card.ts';
import { noteActions } from '../../../parts/timeline/note_actions.ts';
import { reactions } from '../../../parts/timeline/reactions.ts';
import { textWithTasks } from '../../../parts/timeline/text_with_tasks.ts';
import { continueLink, mayContinueThreads } from '../continued_thread_links.ts';
import { requestPath } from '../paths.ts';
import type { Changes } from './load_changes.ts';
import { type Cards, formPath, notePath, seenHead, token } from './card_context.ts';
import { changesPath } from './changes_address.ts';
import { suggestionParts, toSuggestionForm } from './suggestion_card.ts';
import type { ThreadPosition, ShownDraft, ShownNote, ShownThread } from './load_threads.ts';

/** Marks the author of the merge request, and members of the project. */
const badges = ({ changes }: Cards, { author, role }: ShownNote): Html =>
  html`${author.id === changes.loaded.target.author_id && html`<span class="count">Author</span>`}${role !== null && html`<span class="count" title="Role in the project">${role}</span>`}`;

const notePart = (cards: Cards, note: ShownNote): Html => {
  const { changes, visit } = cards;
  const { author, created_at, content, id } = note;
  const text = textWithTasks(visit, content, {
    action: note.mayAdmin ? requestPath(changes.loaded, `/notes/${id}/tasks`) : null,
    texts: noteTexts(note.body),
    returnTo: notePath(cards, id),
  });
  const reacted = reactions(visit, {
    action: cards.rights.mayAward ? requestPath(changes.loaded, '/award_emoji') : null,
    awards: note.awards,
    noteId: id,
    returnTo: notePath(cards, id),
  });
  const links = noteActions(note, {
    path: (below) => requestPath(changes.loaded, below),
    mayQuote: cards.rights.mayComment,
  });
  const heading = noteHeading({ id: `note_${id}`, level: 3, verb: 'commented', author, created_at });
  return html`<div class="note" id="note_${id}">${avatar({ ...author, size: 'medium' })}<div><div class="row tight">${heading}${lastEditPart(note.edited)}${badges(cards, note)}<span class="end row tight">${links}</span></div>${text}${suggestionParts(toSuggestionForm(cards), note.suggestions)}${reacted}</div></div>`;
};

const versionNumber = ({ versions, totalVersions }: Changes, { version, head }: ThreadPosition): Html => {
  const at = version === null ? -1 : versions.indexOf(version);
  return at === -1 ? html`at <code>${toShortId(head)}</code>` : html`version ${totalVersions - at}`;
};

const positionText = (changes: Changes, position: ThreadPosition): Html => {
  const { version, isOutdated, firstLine, line } = position;
  const number = line?.split('_')[1];
  const range = firstLine === null || number === undefined ? '' : `lines ${firstLine} to ${number} · `;
  const name = versionNumber(changes, position);
  const shown =
    isOutdated && version !== null
      ? html`<a href="${changesPath(changes.loaded, { diff_id: version.id })}">${name}</a>`
      : name;
  return html`<span class="muted small">${range}${shown} · ${isOutdated ? 'outdated' : 'still current'}</span>`;
};

const resolveForm = (cards: Cards, { id, isResolved }: ShownThread): Html | null =>
  cards.rights.mayResolve
    ? html`<form method="post" action="${formPath(cards, `/discussions/${id}/${isResolved ? 'unresolve' : 'resolve'}`)}" data-inline>${token(cards)}<button class="small">${isResolved ? 'Reopen' : 'Resolve'}</button></form>`
    : null;

const continuePart = ({ visit, changes: { loaded } }: Cards, { id, isResolved }: ShownThread): Html | null =>
  !isResolved && mayContinueThreads(visit, loaded) ? continueLink(loaded, id) : null;

/** Returns the reply to a thread that was not accepted. */
const keptReply = ({ kept }: Cards, id: string) =>
  kept !== undefined && 'discussion_id' in kept && kept.discussion_id === id ? kept : null;

const replyForm = (cards: Cards, { id }: ShownThread): Html | null => {
  if (!cards.rights.mayComment) return null;
  const kept = keptReply(cards, id);
  const editor = replyEditor({
    name: 'body',
    id: `reply_${id}`,
    label: 'Reply',
    value: kept?.typed,
    project: cards.changes.loaded.project,
    actions: 'merge_request',
  });
  const review = cards.isReviewing ? 'Add to review' : 'Start a review';
  return html`<details class="reply"${kept !== null && html` open`}><summary>${icon('reply')} Reply</summary><form method="post" action="${formPath(cards, '/replies')}" data-inline>${token(cards)}${seenHead(cards)}${hidden('discussion_id', id)}${editor}${
    cards.rights.mayResolve &&
    html`<div class="field check"><input id="resolve_${id}" type="checkbox" name="resolve" value="1"${kept?.resolves === true && html` checked`}><label for="resolve_${id}">Resolve the thread</label></div>`
  }<div class="buttons"><button class="primary small" name="intent" value="comment">Reply</button><button class="small" name="intent" value="review">${review}</button></div></form></details>`;
};

const stateText = ({ isResolved, notes }: ShownThread): Html => {
  if (!isResolved) return html`<span class="status bad">${icon('comment')} Open thread</span>`;
  const by = notes.findLast(({ resolved_by }) => resolved_by)?.resolved_by?.name;
  return html`<span class="status ok">${icon('check-circle')} Resolved${by !== undefined && ` by ${by}`}</span>`;
};

/** Renders a thread. Resolved threads are folded. */
export const threadCard = (cards: Cards, thread: ShownThread, drafts: readonly ShownDraft[] = []): Html => {
  const [lead] = thread.notes;
  const about = html`${stateText(thread)}${positionText(cards.changes, thread.position)}`;
  const notes = html`<div class="thread-notes">${thread.notes.map((note) => notePart(cards, note))}${drafts.map((draft) => draftPart(cards, draft))}</div>
<div class="thread-actions">${replyForm(cards, thread)}${resolveForm(cards, thread)}${continuePart(cards, thread)}</div>`;
  const name = html`aria-label="${thread.isResolved ? 'Resolved' : 'Open'} thread of ${lead?.author.name ?? 'somebody'}"`;
  if (!thread.isResolved) {
    return html`<section class="card thread-card" ${name} id="thread_${thread.id}" data-unresolved tabindex="-1"><header>${about}</header>${notes}</section>`;
  }
  return html`<section class="card thread-card" ${name} id="thread_${thread.id}" tabindex="-1"><details${keptReply(cards, thread.id) !== null && html` open`}><summary>${about}</summary>${notes}</details></section>`;
};

const draftPart = (cards: Cards, { draft, content }: ShownDraft): Html => {
  const path = `/drafts/${draft.id}`;
  const { kept } = cards;
  const typed = kept !== undefined && 'draft_id' in kept && kept.draft_id === draft.id ? kept.typed : null;
  const editor = replyEditor({
    name: 'body',
    id: `draft_text_${draft.id}`,
    label: 'Pending comment',
    value: typed ?? draft.note,
    project: cards.changes.loaded.project,
    actions: 'merge_request',
  });
  return html`<div class="draft" id="draft_${draft.id}"><div class="row tight"><span class="status wait">${icon('clock')} Pending</span><span class="muted small">only you see it until you finish the review</span></div>${content}
${draft.resolve_discussion === 1 && html`<p class="muted small">Resolves the thread.</p>`}<div class="thread-actions"><details class="reply"${typed !== null && html` open`}><summary>${icon('pencil')} Edit</summary><form method="post" action="${formPath(cards, path)}" data-inline>${token(cards)}${editor}<div class="buttons"><button class="primary small">Save</button></div></form></details><form method="post" action="${formPath(cards, `${path}/delete`)}" data-inline>${token(cards)}<button class="small danger" aria-label="Delete the pending comment">Delete</button></form></div></div>`;
};

/** Renders a draft that starts a thread. */
export const draftCard = (cards: Cards, draft: ShownDraft): Html =>
  html`<section class="card thread-card" aria-label="Pending comment" tabindex="-1">${draftPart(cards, draft)}</section>`;
