/** The form for a reply that quotes a comment. The script takes its text into the form of the thread. */
import { toIndividualId } from '../../../../planning/discussions/discussion_id.ts';
import type { LoadedNoteable } from '../../../../planning/issuables/target.ts';
import { findNote } from '../../../../planning/notes/queries.ts';
import { requireCommenter } from '../../../../planning/notes/rules.ts';
import { notFound } from '../../../../platform/errors.ts';
import { id, object } from '../../../../platform/http/schema.ts';
import { page } from '../../page.ts';
import { form, hidden } from '../../parts/form.ts';
import { html } from '../../parts/html.ts';
import { markdownEditor } from '../../parts/markdown_editor.ts';
import { type CommentedKind, recordParams } from './issuable_kind.ts';

/** Quotes a Markdown text, and leaves room for the answer. */
const quote = (text: string): string => `${text.trimEnd().replaceAll(/^/gm, '> ')}\n\n`;

export const quotePages = <L extends LoadedNoteable>(kind: CommentedKind<L>) => [
  page({
    method: 'GET',
    path: `${kind.routePath}/:iid/notes/:note/quote`,
    audience: 'user',
    params: object({ ...recordParams, note: id() }),
    handle: async (visit, { project, iid, note: noteId }) => {
      const { call } = visit;
      const loaded = await kind.find(call, project, iid);
      requireCommenter(call, loaded);
      const note = await findNote(call, loaded.target, noteId);
      if (note.system === 1) throw notFound();
      const back = `${kind.path(loaded)}#note_${note.id}`;
      const content = html`${form(
        visit,
        { action: kind.path(loaded, '/notes'), submit: 'Reply' },
        markdownEditor({
          name: 'body',
          label: 'Reply',
          value: quote(note.body),
          rows: 12,
          required: true,
          project: loaded.project,
        }),
        hidden('discussion_id', note.discussion_id ?? toIndividualId(note.id)),
      )}
<p><a href="${back}">Back to the ${kind.noun.word}</a></p>`;
      return kind.partView(visit, loaded, `Reply to a comment on ${kind.sign}${loaded.target.iid}`, content);
    },
  }),
];
