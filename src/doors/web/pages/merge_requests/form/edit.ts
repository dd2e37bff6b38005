/** The form for the title, the description and the target of a merge request. */
import { openCode } from '../../../../../code/repository/find_code.ts';
import { branchPrefix } from '../../../../../code/repository/refs/resolve.ts';
import { boolean, object, optional, text } from '../../../../../platform/http/schema.ts';
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { updateMergeRequest } from '../../../../../review/merge_requests/update.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { attempt, input } from '../../../parts/form.ts';
import { requireUnchanged } from '../../../parts/timeline/edit_conflicts.ts';
import { findConflict } from '../../issuables/edit_conflict_card.ts';
import { editFormView, editedTexts, notRefused, readTexts } from '../../issuables/edit_form.ts';
import { findEditable } from '../../issuables/find_editable.ts';
import { oneRequest, requestPath, requestsRoutePath } from '../paths.ts';
import { requestKind } from '../request_kind.ts';
import { mergeFields } from './form_fields.ts';

type Filled = {
  title: string;
  description: string;
  target_branch: string;
  squash: boolean;
  remove_source_branch: boolean;
};

const maxSuggestions = 200;

const listBranches = async ({ call }: Visit, { project }: LoadedMergeRequest): Promise<string[]> => {
  const bounds = { prefix: branchPrefix, sort: 'updated', offset: 0, limit: maxSuggestions } as const;
  const { names } = await openCode(call, project).repository.ask('refs.names', bounds);
  return names.map((name) => name.slice(branchPrefix.length));
};

const editView = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  filled: Filled,
  refused = notRefused,
): Promise<View> => {
  const { merge_request, project } = loaded;
  const target =
    merge_request.state === 'opened'
      ? input({
          name: 'target_branch',
          label: 'Target branch',
          value: filled.target_branch,
          required: true,
          suggestions: await listBranches(visit, loaded),
          problems: refused.problems,
        })
      : null;
  const { title, description } = filled;
  const fields = [target, ...mergeFields(project, filled)];
  const form = { name: `!${merge_request.iid}`, title, description, fields };
  return editFormView({ kind: requestKind, visit, loaded }, form, refused);
};

const show = page({
  method: 'GET',
  path: `${requestsRoutePath}/:iid/edit`,
  audience: 'user',
  params: object(oneRequest),
  handle: async (visit, named) => {
    const loaded = await findEditable(requestKind, visit.call, named);
    const { title, description, target_branch, squash, force_remove_source_branch } = loaded.merge_request;
    return await editView(visit, loaded, {
      title,
      description: description ?? '',
      target_branch,
      squash: squash === 1,
      remove_source_branch: force_remove_source_branch === 1,
    });
  },
});

const update = page({
  method: 'POST',
  path: `${requestsRoutePath}/:iid/edit`,
  audience: 'user',
  params: object({
    ...oneRequest,
    ...editedTexts,
    target_branch: optional(text({ maxLength: 1_000 })),
    squash: optional(boolean()),
    remove_source_branch: optional(boolean()),
  }),
  handle: async (visit, { project, iid, title = '', description = '', base = '', ...rest }) => {
    const { call } = visit;
    const loaded = await findEditable(requestKind, call, { project, iid });
    const { typed, edit } = readTexts(loaded.merge_request, { title, description });
    const problems = await attempt(
      async () =>
        await updateMergeRequest(call, loaded, { ...rest, ...edit }, ({ merge_request }) =>
          requireUnchanged(base, merge_request, 'merge request'),
        ),
    );
    if (problems === null) return redirect(requestPath(loaded));
    const current = await findEditable(requestKind, call, { project, iid });
    const conflict = findConflict(base, current.merge_request, typed);
    const { target_branch = loaded.merge_request.target_branch, squash, remove_source_branch } = rest;
    const filled = {
      ...typed,
      target_branch,
      squash: squash === true,
      remove_source_branch: remove_source_branch === true,
    };
    return await editView(visit, current, filled, { problems, conflict });
  },
});

export const editPages = [show, update];
