/** The page on which a comment is edited or deleted. */
import type { Call } from '../../../../core/access/call.ts';
import type { LoadedTarget } from '../../../../planning/issuables/target.ts';
import { deleteNote } from '../../../../planning/notes/delete.ts';
import type { NoteRow } from '../../../../planning/notes/note_row.ts';
import { findNote } from '../../../../planning/notes/queries.ts';
import { requireNoteAdmin } from '../../../../planning/notes/rules.ts';
import { updateNote } from '../../../../planning/notes/update.ts';
import { id, longText, object, optional } from '../../../../platform/http/schema.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { type FormProblems, attempt, form, noProblems } from '../../parts/form.ts';
import { html } from '../../parts/html.ts';
import { markdownEditor } from '../../parts/markdown_editor.ts';
import { type IssuableKind, oneRecord } from './issuable_kind.ts';
import { problemText } from './submit_form.ts';

const oneNote = { ...oneRecord, note: id() };

type LoadedNote<L> = { loaded: L; note: NoteRow };
type Named = { project: string; iid: number; note: number };

const findOwnNote = async <L extends LoadedTarget>(
  kind: IssuableKind<L>,
  call: Call,
  { project, iid, note: noteId }: Named,
): Promise<LoadedNote<L>> => {
  const loaded = await kind.find(call, project, iid);
  const note = await findNote(call, loaded.target, noteId);
  requireNoteAdmin(call, loaded, note);
  return { loaded, note };
};

type Edited = { body: string; problems?: FormProblems };

const editView = <L extends LoadedTarget>(
  kind: IssuableKind<L>,
  visit: Visit,
  { loaded, note }: LoadedNote<L>,
  { body, problems = noProblems }: Edited,
): View => {
  const action = kind.path(loaded, `/notes/${note.id}`);
  const text = problems === noProblems ? null : problemText(problems);
  const { word } = kind.noun;
  const content = html`${form(
    visit,
    { action, submit: 'Save changes', problems: { text, fields: {} } },
    markdownEditor({ name: 'body', label: 'Comment', value: body, rows: 12, project: loaded.project }),
  )}
<p><a href="${kind.path(loaded)}#note_${note.id}">Back to the ${word}</a></p>
<section class="card danger-zone"><header><h2>Delete this comment</h2></header><div class="body">${form(
    visit,
    {
      action: `${action}/delete`,
      submit: 'Delete comment',
      danger: true,
    },
  )}</div></section>`;
  const sign = kind.noun.type === 'Issue' ? '#' : '!';
  const title = `Edit a comment on ${sign}${loaded.target.iid}`;
  const view = kind.partView(visit, loaded, title, content);
  return problems === noProblems ? view : { ...view, status: 422 };
};

const updatePage = <L extends LoadedTarget>(kind: IssuableKind<L>) =>
  page({
    method: 'POST',
    path: `${kind.served}/:iid/notes/:note`,
    audience: 'user',
    params: object({ ...oneNote, body: optional(longText()) }),
    handle: async (visit, { body: typed = '', ...named }) => {
      const { call } = visit;
      const found = await findOwnNote(kind, call, named);
      const { loaded, note } = found;
      const body = typed.replaceAll('\r\n', '\n');
      const problems = await attempt(async () => await updateNote(kind.noun, call, loaded, { note, body }));
      if (problems !== null) return editView(kind, visit, found, { body, problems });
      return redirect(`${kind.path(loaded)}#note_${note.id}`);
    },
  });

export const editCommentPages = <L extends LoadedTarget>(kind: IssuableKind<L>) => [
  page({
    method: 'GET',
    path: `${kind.served}/:iid/notes/:note/edit`,
    audience: 'user',
    params: object(oneNote),
    handle: async (visit, named) => {
      const found = await findOwnNote(kind, visit.call, named);
      return editView(kind, visit, found, { body: found.note.body });
    },
  }),
  updatePage(kind),
  page({
    method: 'POST',
    path: `${kind.served}/:iid/notes/:note/delete`,
    audience: 'user',
    params: object(oneNote),
    handle: async ({ call }, named) => {
      const { loaded, note } = await findOwnNote(kind, call, named);
      await deleteNote(kind.noun, call, loaded, note);
      return redirect(kind.path(loaded), 'The comment is deleted.');
    },
  }),
];
