/** The form for the title and the description of an issue. */
import type { LoadedIssue } from '../../../../../planning/issues/find.ts';
import { updateIssue } from '../../../../../planning/issues/update.ts';
import { object } from '../../../../../platform/http/schema.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { attempt } from '../../../parts/form.ts';
import { type Texts, requireUnchanged } from '../../../parts/timeline/edit_conflicts.ts';
import { findConflict } from '../../issuables/edit_conflict_card.ts';
import { editFormView, editedTexts, notRefused, readTexts } from '../../issuables/edit_form.ts';
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

const update = page({
  method: 'POST',
  path: `${issuesRoutePath}/:iid/edit`,
  audience: 'user',
  params: object({ ...oneIssue, ...editedTexts }),
  handle: async (visit, { project, iid, title = '', description = '', base = '' }) => {
    const { call } = visit;
    const loaded = await findEditable(issueKind, call, { project, iid });
    const { typed, edit } = readTexts(loaded.issue, { title, description });
    const problems = await attempt(
      async () =>
        await updateIssue(call, loaded, edit, (locked) => requireUnchanged(base, locked.issue, 'issue')),
    );
    if (problems === null) return redirect(issuePath(loaded));
    const current = await findEditable(issueKind, call, { project, iid });
    return editView(visit, current, typed, { problems, conflict: findConflict(base, current.issue, typed) });
  },
});

export const editPages = [show, update];
