/** The page on which a comment on a commit is edited or deleted. */
import { requireActor } from '../../../../core/access/call.ts';
import { may } from '../../../../core/access/may.ts';
import {
  type CommitComment,
  deleteComment,
  editComment,
} from '../../../../code/repository/commits/comments.ts';
import { toShortId } from '../../../../code/repository/commits/json.ts';
import { type Code, findCode } from '../../../../code/repository/find_code.ts';
import { requireCommit } from '../../../../code/repository/refs/resolve.ts';
import { findCommitComment } from '../../../../planning/discussions/commits/comments.ts';
import { checkBody } from '../../../../planning/notes/rules.ts';
import { forbidden } from '../../../../platform/errors.ts';
import { id as idParam, longText, object, optional, text } from '../../../../platform/http/schema.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { commitPath } from '../../parts/code/commit_line.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { form, hidden } from '../../parts/form.ts';
import { type FormProblems, noProblems, problemText, withFormStatus } from '../../parts/form_problems.ts';
import { projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { html } from '../../parts/html.ts';
import { markdownEditor } from '../../parts/markdown_editor.ts';
import { fingerprintTexts, noteTexts, requireUnchanged } from '../../parts/timeline/edit_conflicts.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { type EditConflict, conflictCard, findConflict } from '../issuables/edit_conflict_card.ts';
import { submitLabel } from '../../parts/fields/saved_meanwhile.ts';

const routePath = `${projectRoot}/commit/:id/notes/:note`;
const oneNote = {
  ...projectPath,
  id: text({ maxLength: 1_000, description: 'commit' }),
  note: idParam('id of the comment'),
};

type Named = { project: string; id: string; note: number };
type Loaded = { code: Code; path: string; comment: CommitComment };

/** Loads a comment that the caller may edit. @throws Failure 404; 403 unless they are its author or a maintainer */
const findOwn = async ({ call }: Visit, { project, id, note }: Named): Promise<Loaded> => {
  const code = await findCode(call, project);
  const commit = await requireCommit(code, id);
  const comment = await findCommitComment(call.db, { project_id: code.project.id, sha: commit.id }, note);
  if (!may(call.viewer, 'admin_note', code.project, comment)) throw forbidden();
  return { code, path: commitPath(code.project, commit.id), comment };
};

type Edited = { body: string; problems?: FormProblems; conflict?: EditConflict | null };

const editView = (
  visit: Visit,
  { code: { project }, path, comment }: Loaded,
  { body, problems = noProblems, conflict = null }: Edited,
): View => {
  const action = `${path}/notes/${comment.id}`;
  const said = problems === noProblems ? null : problemText(problems);
  const content = html`<div data-edit-form>${form(
    visit,
    { action, submit: submitLabel(conflict !== null), problems: { text: said, fields: {} } },
    markdownEditor({ name: 'body', label: 'Comment', value: body, rows: 12, project }),
    hidden('base', fingerprintTexts(noteTexts(comment.note))),
  )}${conflictCard(conflict, `${action}/edit`, 'Comment')}<details class="act"><summary>Delete this comment</summary>${form(
    visit,
    { action: `${action}/delete`, submit: 'Delete comment', danger: true },
  )}</details></div>
<p><a href="${path}#note_${comment.id}">Back to the commit</a></p>`;
  const title = `Edit a comment on ${toShortId(comment.sha)}`;
  return withFormStatus(projectView(visit, { project, title, noun: 'commit' }, content), problems);
};

export const editCommentPages = [
  page({
    method: 'GET',
    path: `${routePath}/edit`,
    audience: 'user',
    params: object(oneNote),
    handle: async (visit, named) => {
      const loaded = await findOwn(visit, named);
      return editView(visit, loaded, { body: loaded.comment.note });
    },
  }),
  formPage({
    path: routePath,
    audience: 'user',
    address: { ...oneNote, base: optional(text()) },
    fields: { body: optional(longText()) },
    find: async (visit, { base, ...named }) => ({ loaded: await findOwn(visit, named), base }),
    fromSent: ({ body }) => fieldText(body),
    run: async ({ call }, { loaded: { comment, path }, base }, { body = '' }) => {
      if (base !== undefined) requireUnchanged(base, noteTexts(comment.note), 'comment', noteTexts(body));
      const note = checkBody(body);
      await call.write(async (tx) => await editComment(tx, requireActor(call), comment, note));
      return redirect(`${path}#note_${comment.id}`);
    },
    view: (visit, { loaded, base }, { values: body, problems }) => {
      const saved = noteTexts(loaded.comment.note);
      const conflict = base === undefined ? null : findConflict(base, saved, noteTexts(body));
      return editView(visit, loaded, { body, problems, conflict });
    },
  }),
  page({
    method: 'POST',
    path: `${routePath}/delete`,
    audience: 'user',
    params: object(oneNote),
    handle: async (visit, named) => {
      const { comment, path } = await findOwn(visit, named);
      const { call } = visit;
      await call.write(async (tx) => await deleteComment(tx, requireActor(call), comment));
      return redirect(path, 'The comment was deleted.');
    },
  }),
];
