/** A thread of a timeline: its first comment, the replies and the actions. */
import { isIssuable } from '../../../../planning/issuables/target.ts';
import { actionSetOf } from '../../../../planning/issuables/text/quick_action_words.ts';
import type { Visit } from '../../page.ts';
import { hidden } from '../form.ts';
import { button } from '../frame/project_layout.ts';
import { type Html, html } from '../html.ts';
import { icon } from '../icon.ts';
import { replyEditor } from '../markdown_editor.ts';
import { noteTexts } from './edit_conflicts.ts';
import { lastEditPart } from './last_edit.ts';
import type { ShownNote, ShownThread } from './load_timeline.ts';
import { noteCard, noteHeading } from './note_card.ts';
import { noteActions } from './note_actions.ts';
import { reactions } from './reactions.ts';
import { systemEvent } from './system_event.ts';
import type { TimelineContext } from './timeline_context.ts';
import { textWithTasks } from './text_with_tasks.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

const awardPath = ({ rights, path }: TimelineContext): string | null =>
  rights.award ? path('/award_emoji') : null;

const authorBadge = ({ author: { id } }: TimelineContext, { author }: ShownNote): string | null =>
  author.id === id ? 'Author' : null;

const noteReactions = (visit: Visit, context: TimelineContext, note: ShownNote): Html | null =>
  reactions(visit, {
    action: awardPath(context),
    awards: context.awards.notes.get(note.id) ?? [],
    noteId: note.id,
  });

/** Returns whether a thread waits to be resolved. */
export const isUnresolved = ({ notes }: ShownThread): boolean =>
  notes[0]?.resolvable === true && !isThreadResolved(notes);

const isThreadResolved = (notes: readonly ShownNote[]): boolean =>
  notes.some(({ resolvable }) => resolvable) &&
  notes.every(({ resolvable, resolved }) => !resolvable || resolved === true);

const replyForm = (visit: Visit, context: TimelineContext, thread: ShownThread): Html => {
  const { path, loaded, rights, seenHead } = context;
  const resolve =
    rights.resolve &&
    isUnresolved(thread) &&
    html`<button class="small" name="resolve" value="1">Reply and resolve</button>`;
  const editor = replyEditor({
    name: 'body',
    id: `reply_${thread.id}`,
    label: 'Reply',
    project: loaded.project,
    actions: isIssuable(loaded.target) ? actionSetOf(loaded.target.type) : undefined,
  });
  return html`<details class="reply"><summary>${icon('reply')} Reply</summary><form method="post" action="${path('/notes')}">${hidden(
    'authenticity_token',
    visit.csrfToken(),
  )}${hidden('discussion_id', thread.id)}${seenHead !== undefined && hidden('seen_head', seenHead ?? '')}${editor}<div class="buttons"><button class="primary small">Reply</button>${resolve}</div></form></details>`;
};

const resolveButton = (visit: Visit, { path }: TimelineContext, { id, notes }: ShownThread): Html => {
  const isResolved = isThreadResolved(notes);
  const action = path(`/discussions/${id}/${isResolved ? 'unresolve' : 'resolve'}`);
  return button(visit, action, { label: isResolved ? 'Reopen thread' : 'Resolve thread' });
};

/** Links to what continues an unresolved thread. Internal threads continue nowhere: others would read them. */
const furtherLink = ({ threadLink }: TimelineContext, thread: ShownThread): Html | null =>
  threadLink !== undefined && isUnresolved(thread) && thread.notes[0]?.internal === false
    ? threadLink(thread.id)
    : null;

const actionsOf = ({ path, rights }: TimelineContext, note: ShownNote): Html =>
  noteActions(note, { path, mayQuote: rights.comment });

/** Renders the text of a comment, whose tasks its editors can tick, and the changes that it proposes. */
const textOf = (visit: Visit, context: TimelineContext, { id, content, body, mayAdmin }: ShownNote): Html => {
  const text = textWithTasks(visit, content, {
    action: mayAdmin ? context.path(`/notes/${id}/tasks`) : null,
    texts: noteTexts(body),
  });
  return html`${text}${context.suggestionsPart?.(id) ?? null}`;
};

const replyPart = (visit: Visit, context: TimelineContext, note: ShownNote): Html =>
  html`<li id="note_${note.id}"><div class="row">${noteHeading({ ...note, id: `note_${note.id}`, level: 4, verb: 'replied' })}${lastEditPart(context.edits.notes.get(note.id) ?? null)}${
    authorBadge(context, note) !== null && html`<span class="count">Author</span>`
  }${
    context.roles.has(note.author.id) &&
    html`<span class="count" title="Role in the project">${context.roles.get(note.author.id)}</span>`
  }<span class="end row tight">${actionsOf(context, note)}</span></div>${textOf(visit, context, note)}${noteReactions(visit, context, note)}</li>`;

/** Renders the reactions to the first comment of a thread, its replies and its actions. */
const repliesPart = (visit: Visit, context: TimelineContext, thread: ShownThread, lead: ShownNote): Html => {
  const { rights } = context;
  const replies = thread.notes.slice(1);
  const reacted = noteReactions(visit, context, lead);
  const acts = html`${rights.comment && replyForm(visit, context, thread)}${lead.resolvable && rights.resolve && resolveButton(visit, context, thread)}${furtherLink(context, thread)}`;
  if (replies.length === 0) return html`<div class="note-foot">${reacted}${acts}</div>`;
  const answers = html`<ul class="replies">${replies.map((note) => replyPart(visit, context, note))}</ul>${acts.text !== '' && html`<div class="thread-actions">${acts}</div>`}`;
  const folded = html`<details class="folded"><summary>${spellCount(replies.length, 'reply', 'replies')}</summary>${answers}</details>`;
  return html`${reacted}${isThreadResolved(thread.notes) ? folded : answers}`;
};

/** The state of a resolvable thread, or the author of the comment. */
const threadBadge = (context: TimelineContext, { notes }: ShownThread, lead: ShownNote): string | null => {
  if (!isThreadResolved(notes)) return authorBadge(context, lead);
  const by = notes.findLast(({ resolved_by }) => resolved_by)?.resolved_by?.name;
  return `Resolved${by === undefined ? '' : ` by ${by}`}`;
};

/** Renders a thread, or a system note as an event. */
export const threadPart = (visit: Visit, context: TimelineContext, thread: ShownThread): Html => {
  const [lead] = thread.notes;
  if (lead === undefined) return html``;
  if (lead.system) return systemEvent(lead);
  const position = lead.position ?? null;
  const place = position === null ? null : context.positionPart?.(position, lead.id);
  return noteCard({
    id: `note_${lead.id}`,
    level: 3,
    verb: 'commented',
    author: lead.author,
    created_at: lead.created_at,
    edited: context.edits.notes.get(lead.id) ?? null,
    content: html`${place}${textOf(visit, context, lead)}`,
    badge: threadBadge(context, thread, lead),
    role: context.roles.get(lead.author.id) ?? null,
    isInternal: lead.internal,
    isUnresolved: isUnresolved(thread),
    actions: actionsOf(context, lead),
    below: repliesPart(visit, context, thread, lead),
  });
};
