/** The comments on a commit, and the form for another one. */
import { may } from '../../../../core/access/may.ts';
import type { CommitComment } from '../../../../code/repository/commits/comments.ts';
import type { Code } from '../../../../code/repository/find_code.ts';
import {
  commitDiscussionsJson,
  listCommitDiscussions,
} from '../../../../planning/discussions/commits/comments.ts';
import { pageRequest } from '../../../../platform/http/page.ts';
import type { Commit } from '../../../../platform/git/protocol_types.ts';
import type { Visit } from '../../page.ts';
import { type FormProblems, form, noProblems } from '../../parts/form.ts';
import { commitPath } from '../../parts/code/commit_line.ts';
import { type Html, html } from '../../parts/html.ts';
import { markdownTexts } from '../../parts/markdown.ts';
import { markdownEditor } from '../../parts/markdown_editor.ts';
import { noteCard } from '../../parts/timeline/note_card.ts';

/** Discussions that are shown; the API has the rest. */
const shown = pageRequest({ per_page: 100 });

const noPlace = { path: null, line: null };

/** Names the line or file that a comment is on. */
const placePart = ({ path, line }: Pick<CommitComment, 'path' | 'line'>): Html | null =>
  path === null ? null : html`<p class="mono small">${path}${line !== null && ` · line ${line}`}</p>`;

export type CommentGiven = {
  /** Text that was not accepted. */
  typed?: string;
  problems?: FormProblems;
};

const commentForm = (
  visit: Visit,
  { project }: Code,
  { id }: Commit,
  { typed = '', problems = noProblems }: CommentGiven,
): Html =>
  form(
    visit,
    { action: `${commitPath(project, id)}/comments`, submit: 'Comment', problems },
    markdownEditor({
      name: 'note',
      id: 'new_comment',
      label: 'Add a comment',
      rows: 4,
      key: 'r',
      required: true,
      value: typed,
      project,
      problems,
    }),
  );

export const commentsPart = async (
  visit: Visit,
  code: Code,
  commit: Commit,
  given: CommentGiven,
): Promise<Html> => {
  const { call } = visit;
  const { project } = code;
  const { items, total } = await listCommitDiscussions(
    call.db,
    { project_id: project.id, sha: commit.id },
    shown,
  );
  const discussions = await commitDiscussionsJson(call, items);
  const notes = discussions.flatMap((one) => one.notes);
  const contents = await markdownTexts(
    call,
    notes.map(({ body }) => body),
    { project },
  );
  const stored = new Map(items.flatMap(({ comments }) => comments.map((one) => [one.id, one] as const)));
  const cards = notes.map((note, at) =>
    noteCard({
      id: `note_${note.id}`,
      level: 3,
      verb: 'commented',
      author: note.author,
      created_at: note.created_at,
      content: html`${placePart(stored.get(note.id) ?? noPlace)}${contents[at]}`,
    }),
  );
  const isAllowed = call.signedIn && may(call.viewer, 'comment_on_commit', project);
  if (cards.length === 0 && !isAllowed) return html``;
  const more =
    total > items.length &&
    html`<p class="muted">The first ${items.length} of ${total} discussions are shown.</p>`;
  return html`<section class="stack" id="comments" aria-labelledby="comments_title"><h2 id="comments_title">Comments</h2><div class="timeline">${cards}</div>${more}${
    isAllowed && commentForm(visit, code, commit, given)
  }</section>`;
};
