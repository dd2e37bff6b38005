/** The form for the title and the description of an issue. */
import type { LoadedIssue } from '../../../../../planning/issues/find.ts';
import { updateIssue } from '../../../../../planning/issues/update.ts';
import { longText, object, optional, text } from '../../../../../platform/http/schema.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import {
  type FormProblems,
  attempt,
  form,
  hidden,
  input,
  noProblems,
  withFormStatus,
} from '../../../parts/form.ts';
import { markdownEditor } from '../../../parts/markdown_editor.ts';
import { projectView } from '../../../parts/frame/project_layout.ts';
import { html } from '../../../parts/html.ts';
import { baseOf, requireBase } from '../../../parts/timeline/edit_conflicts.ts';
import {
  type EditConflict,
  conflictCard,
  findConflict,
  submitLabel,
} from '../../issuables/edit_conflict_card.ts';
import { findEditable, issuePath, oneIssue, servedIssues } from '../find.ts';

type Filled = { title: string; description: string };

/** Problems of the refused form. */
type Refused = { problems: FormProblems; conflict: EditConflict | null };

const editView = (
  visit: Visit,
  loaded: LoadedIssue,
  filled: Filled,
  { problems, conflict }: Refused = { problems: noProblems, conflict: null },
): View => {
  const { issue, project } = loaded;
  const content = html`<div class="form-page"><div data-edit-form>${form(
    visit,
    { action: issuePath(loaded, '/edit'), submit: submitLabel(conflict), problems },
    input({ name: 'title', label: 'Title', value: filled.title, required: true, problems }),
    markdownEditor({
      name: 'description',
      label: 'Description',
      value: filled.description,
      rows: 16,
      project,
      problems,
    }),
    hidden('base', baseOf(issue)),
  )}${conflictCard(conflict, issuePath(loaded, '/edit'))}</div>
<p><a href="${issuePath(loaded)}">Back to the issue</a></p></div>`;
  const view = projectView(visit, { project, title: `Edit #${issue.iid}`, noun: 'issues' }, content);
  return withFormStatus(view, problems);
};

const show = page({
  method: 'GET',
  path: `${servedIssues}/:iid/edit`,
  audience: 'user',
  params: object(oneIssue),
  handle: async (visit, { project, iid }) => {
    const loaded = await findEditable(visit.call, project, iid);
    const { title, description } = loaded.issue;
    return editView(visit, loaded, { title, description: description ?? '' });
  },
});

const update = page({
  method: 'POST',
  path: `${servedIssues}/:iid/edit`,
  audience: 'user',
  params: object({
    ...oneIssue,
    title: optional(longText()),
    description: optional(longText()),
    base: optional(text()),
  }),
  handle: async (visit, { project, iid, title = '', description: typed = '', base = '' }) => {
    const { call } = visit;
    const loaded = await findEditable(call, project, iid);
    const description = typed.replaceAll('\r\n', '\n');
    // Browsers send other line ends than the text may have.
    const before = (loaded.issue.description ?? '').replaceAll('\r\n', '\n');
    const edit = { title, ...(description !== before && { description }) };
    const problems = await attempt(
      async () => await updateIssue(call, loaded, edit, (locked) => requireBase(base, locked.issue, 'issue')),
    );
    if (problems === null) return redirect(issuePath(loaded));
    const current = await findEditable(call, project, iid);
    const conflict = findConflict(base, current.issue, { title, description });
    return editView(visit, current, { title, description }, { problems, conflict });
  },
});

export const editPages = [show, update];
