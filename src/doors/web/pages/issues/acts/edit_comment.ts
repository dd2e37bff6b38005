/** The page on which a comment is edited or deleted. */
import { type LoadedIssue, findIssue } from '../../../../../planning/issues/find.ts';
import { issueNoun } from '../../../../../planning/issues/noun.ts';
import { deleteNote } from '../../../../../planning/notes/delete.ts';
import type { NoteRow } from '../../../../../planning/notes/note_row.ts';
import { findNote } from '../../../../../planning/notes/queries.ts';
import { requireNoteAdmin } from '../../../../../planning/notes/rules.ts';
import { updateNote } from '../../../../../planning/notes/update.ts';
import { id, longText, object, optional } from '../../../../../platform/http/schema.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { type FormProblems, attempt, form, noProblems } from '../../../parts/form.ts';
import { markdownEditor } from '../../../parts/markdown_editor.ts';
import { projectView } from '../../../parts/frame/project_view.ts';
import { html } from '../../../parts/html.ts';
import { issuePath, oneIssue, servedIssues } from '../find.ts';
import { problemText } from './submit.ts';

const oneNote = { ...oneIssue, note: id() };

type LoadedNote = { loaded: LoadedIssue; note: NoteRow };

const findOwnNote = async (
  { call }: Visit,
  project: string,
  iid: number,
  noteId: number,
): Promise<LoadedNote> => {
  const loaded = await findIssue(call, project, iid);
  const note = await findNote(call, loaded.target, noteId);
  requireNoteAdmin(call, loaded, note);
  return { loaded, note };
};

const editView = (
  visit: Visit,
  { loaded, note }: LoadedNote,
  body: string,
  problems: FormProblems = noProblems,
): View => {
  const action = issuePath(loaded, `/notes/${note.id}`);
  const text = problems === noProblems ? null : problemText(problems);
  const content = html`${form(
    visit,
    { action, submit: 'Save changes', problems: { text, fields: {} } },
    markdownEditor({ name: 'body', label: 'Comment', value: body, rows: 12, project: loaded.project }),
  )}
<p><a href="${issuePath(loaded)}#note_${note.id}">Back to the issue</a></p>
<section class="card danger-zone"><header><h2>Delete this comment</h2></header><div class="body">${form(
    visit,
    {
      action: `${action}/delete`,
      submit: 'Delete comment',
      danger: true,
    },
  )}</div></section>`;
  const title = `Edit a comment on #${loaded.target.iid}`;
  const view = projectView(visit, { project: loaded.project, title, noun: 'issues' }, content);
  return problems === noProblems ? view : { ...view, status: 422 };
};

const show = page({
  method: 'GET',
  path: `${servedIssues}/:iid/notes/:note/edit`,
  audience: 'user',
  params: object(oneNote),
  handle: async (visit, { project, iid, note: noteId }) => {
    const found = await findOwnNote(visit, project, iid, noteId);
    return editView(visit, found, found.note.body);
  },
});

const update = page({
  method: 'POST',
  path: `${servedIssues}/:iid/notes/:note`,
  audience: 'user',
  params: object({ ...oneNote, body: optional(longText()) }),
  handle: async (visit, { project, iid, note: noteId, body: typed = '' }) => {
    const { call } = visit;
    const found = await findOwnNote(visit, project, iid, noteId);
    const { loaded, note } = found;
    const body = typed.replaceAll('\r\n', '\n');
    const problems = await attempt(async () => await updateNote(issueNoun, call, loaded, { note, body }));
    if (problems !== null) return editView(visit, found, body, problems);
    return redirect(`${issuePath(loaded)}#note_${note.id}`);
  },
});

const remove = page({
  method: 'POST',
  path: `${servedIssues}/:iid/notes/:note/delete`,
  audience: 'user',
  params: object(oneNote),
  handle: async (visit, { project, iid, note: noteId }) => {
    const { loaded, note } = await findOwnNote(visit, project, iid, noteId);
    await deleteNote(issueNoun, visit.call, loaded, note);
    return redirect(issuePath(loaded), 'The comment is deleted.');
  },
});

export const editCommentPages = [show, update, remove];
