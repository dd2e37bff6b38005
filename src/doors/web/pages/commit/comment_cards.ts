/** Renders the discussions on a commit, between its lines and below them, and the forms for further comments. */
import type { Project } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';
import { avatar } from '../../parts/avatar.ts';
import { type CommentPosition, titleOfComment } from '../../parts/diff/comment_position.ts';
import { form, hidden } from '../../parts/form.ts';
import { type FormProblems, noProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { markdownEditor, replyEditor } from '../../parts/markdown_editor.ts';
import { noteActions } from '../../parts/timeline/note_actions.ts';
import { type LastEdit, lastEditPart } from '../../parts/timeline/last_edit.ts';
import { noteCard, noteHeading } from '../../parts/timeline/note_card.ts';
import type { ShownComment, ShownDiscussion } from './load_comments.ts';

export type CardContext = {
  visit: Visit;
  project: Project;
  /** Address of the commit. @param below what follows: `/comments` */
  path: (below: string) => string;
  /** Start of links of lines. Empty on the page of the commit itself, because a page has thousands. */
  linePath: string;
  /** Address that takes comments, with what the page shows of the diff. */
  action: string;
  mayComment: boolean;
};

const headingOf = ({ id, author, created_at }: ShownComment, verb: string): Html =>
  noteHeading({ id: `note_${id}`, level: verb === 'replied' ? 4 : 3, verb, author, created_at });

/** The editor of a comment on a commit is not stored. */
const editOf = ({ created_at, updated_at }: ShownComment): LastEdit | null =>
  created_at === updated_at ? null : { at: updated_at, by: null };

const actionsOf = ({ path }: CardContext, comment: ShownComment): Html =>
  noteActions(comment, { path, mayQuote: false });

const textOf = ({ content }: ShownComment): Html => html`<div data-text>${content}</div>`;

const token = ({ visit }: CardContext): Html => hidden('authenticity_token', visit.csrfToken());

const replyForm = (context: CardContext, { id }: ShownDiscussion, isInline: boolean): Html | null => {
  if (!context.mayComment) return null;
  const editor = replyEditor({ name: 'note', id: `reply_${id}`, label: 'Reply', project: context.project });
  return html`<details class="reply"><summary>${icon('reply')} Reply</summary><form method="post" action="${context.action}"${isInline && html` data-inline`}>${token(context)}${hidden('discussion_id', id)}${editor}<div class="buttons"><button class="primary small">Reply</button></div></form></details>`;
};

/** Renders a discussion between the lines of a diff. */
export const lineDiscussion = (context: CardContext, discussion: ShownDiscussion): Html => {
  const [lead] = discussion.comments;
  const notes = discussion.comments.map(
    (one, at) =>
      html`<div class="note" id="note_${one.id}">${avatar({ ...one.author, size: 'medium' })}<div><div class="row tight">${headingOf(one, at === 0 ? 'commented' : 'replied')}${lastEditPart(editOf(one))}<span class="end row tight">${actionsOf(context, one)}</span></div>${textOf(one)}</div></div>`,
  );
  return html`<section class="card thread-card" aria-label="Comments of ${lead?.author.name ?? 'somebody'}" tabindex="-1"><div class="thread-notes">${notes}</div><div class="thread-actions">${replyForm(context, discussion, true)}</div></section>`;
};

/** Names the line or file that a discussion is on. */
const placePart = ({ place: { path, line } }: ShownDiscussion): Html | null =>
  path === null ? null : html`<p class="mono small">${path}${line !== null && ` · line ${line}`}</p>`;

/** Renders a discussion below the diff. */
const discussionCard = (context: CardContext, discussion: ShownDiscussion): Html => {
  const [lead, ...replies] = discussion.comments;
  if (lead === undefined) return html``;
  const answers =
    replies.length > 0 &&
    html`<ul class="replies">${replies.map(
      (one) =>
        html`<li id="note_${one.id}"><div class="row">${headingOf(one, 'replied')}${lastEditPart(editOf(one))}<span class="end row tight">${actionsOf(context, one)}</span></div>${textOf(one)}</li>`,
    )}</ul>`;
  return noteCard({
    id: `note_${lead.id}`,
    level: 3,
    verb: 'commented',
    author: lead.author,
    created_at: lead.created_at,
    edited: editOf(lead),
    content: html`${placePart(discussion)}${textOf(lead)}`,
    actions: actionsOf(context, lead),
    below: html`${answers}<div class="note-foot">${replyForm(context, discussion, false)}</div>`,
  });
};

/** The discussion of a reply, or the line of a comment, as a form sends them. */
type CommentAbout = {
  discussion_id?: string | undefined;
  path?: string | undefined;
  old_path?: string | undefined;
  line?: string | undefined;
};

export type CommentFormState = {
  /** Text that was not accepted. */
  typed?: string | undefined;
  problems?: FormProblems;
  /** Subject of the comment. The form at the end of the page keeps it, if no other form has the text. */
  about?: CommentAbout;
};

const titleOf = ({ discussion_id, path, line }: CommentAbout): string => {
  if (discussion_id !== undefined) return 'Reply';
  return path === undefined ? 'Add a comment' : `${titleOfComment(line ?? null)} of ${path}`;
};

const commentForm = (
  { visit, project, action }: CardContext,
  { typed = '', problems = noProblems, about = {} }: CommentFormState,
): Html =>
  form(
    visit,
    { action, submit: about.discussion_id === undefined ? 'Comment' : 'Reply', problems },
    html`${Object.entries(about).map(([name, value]) => value !== undefined && hidden(name, value))}`,
    markdownEditor({
      name: 'note',
      id: 'commit_comment',
      label: titleOf(about),
      rows: 4,
      key: 'r',
      required: true,
      value: typed,
      project,
      problems,
    }),
  );

/** Renders the comments that are on no line of the page, and the form for another one. */
export const commentsPart = (
  context: CardContext,
  { rest, hidden: more }: { rest: readonly ShownDiscussion[]; hidden: number },
  state: CommentFormState,
): Html => {
  const { mayComment } = context;
  if (rest.length === 0 && more === 0 && !mayComment) return html``;
  return html`<section class="stack" id="comments" aria-labelledby="comments_title"><h2 id="comments_title">Comments</h2><div class="timeline">${rest.map((one) => discussionCard(context, one))}</div>${
    more > 0 && html`<p class="muted">${more} further discussions are not shown.</p>`
  }${mayComment && commentForm(context, state)}</section>`;
};

/** Renders the form for a comment on a line. The script shows it at other lines, too. */
export const lineForm = (
  context: CardContext,
  { file, line }: CommentPosition,
  { typed = '', problems = noProblems }: CommentFormState = {},
): Html =>
  html`<section class="card comment-form" id="new_comment" aria-label="New comment"><form method="post" action="${context.action}" data-inline class="body">${token(context)}${hidden('path', file.new_path)}${hidden(
    'old_path',
    file.old_path,
  )}${hidden('line', line ?? '')}${markdownEditor({
    name: 'note',
    id: 'new_comment_text',
    label: titleOfComment(line),
    rows: 4,
    required: true,
    value: typed,
    project: context.project,
    problems,
  })}<div class="buttons"><button class="primary">Comment</button><a class="button" href="${context.path('')}" data-cancel>Cancel</a></div></form></section>`;
