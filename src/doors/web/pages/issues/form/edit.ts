/** The form for the title and the description of an issue. */
import type { LoadedIssue } from '../../../../../planning/issues/find.ts';
import { updateIssue } from '../../../../../planning/issues/update.ts';
import { object } from '../../../../../platform/http/schema.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { readTexts } from '../../../parts/fields/field_text.ts';
import { formPage } from '../../../parts/fields/form_page.ts';
import { type Texts, requireUnchanged } from '../../../parts/timeline/edit_conflicts.ts';
import { findConflict } from '../../issuables/edit_conflict_card.ts';
import { baseParam, editFormView, editedTexts, notRefused, toEdit } from '../../issuables/edit_form.ts';
import { findEditable } from '../../issuables/find_editable.ts';
import { issuePath, oneIssue, issuesRoutePath } from '../paths.ts';
import { issueKind } from '../issue_kind.ts';

const editView = (
  visit: Visit,
  loaded: LoadedIssue,
  { title, description }: Texts,
  refused = notRefused,
): View => {
  const filled = { name: `#${loaded.issue.iid}`, title, description: description ?? '' };
  return editFormView({ kind: issueKind, visit, loaded }, filled, refused);
};

const show = page({
  method: 'GET',
  path: `${issuesRoutePath}/:iid/edit`,
  audience: 'user',
  params: object(oneIssue),
  handle: async (visit, named) => {
    const loaded = await findEditable(issueKind, visit.call, named);
    return editView(visit, loaded, loaded.issue);
  },
});

const update = formPage({
  path: `${issuesRoutePath}/:iid/edit`,
  audience: 'user',
  address: { ...oneIssue, ...baseParam },
  fields: editedTexts,
  find: async ({ call }, { base = '', ...named }) => ({
    loaded: await findEditable(issueKind, call, named),
    named,
    base,
  }),
  fromSent: (sent) => readTexts(sent, ['title', 'description']),
  run: async ({ call }, { loaded, base }, { title = '', description = '' }, typed) => {
    const edit = toEdit(loaded.issue, { title, description });
    await updateIssue(call, loaded, edit, (locked) => requireUnchanged(base, locked.issue, 'issue', typed));
    return redirect(issuePath(loaded));
  },
  view: async (visit, { named, base }, { values: typed, problems }) => {
    const current = await findEditable(issueKind, visit.call, named);
    return editView(visit, current, typed, { problems, conflict: findConflict(base, current.issue, typed) });
  },
});

export const editPages = [show, update];
