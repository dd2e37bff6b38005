/** The form for the title, the description and the target of a merge request. */
import { openCode } from '../../../../../code/repository/find_code.ts';
import { branchPrefix } from '../../../../../code/repository/refs/resolve.ts';
import { boolean, longText, object, optional, text } from '../../../../../platform/http/schema.ts';
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { updateMergeRequest } from '../../../../../review/merge_requests/update.ts';
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
import { projectView } from '../../../parts/frame/project_layout.ts';
import { html } from '../../../parts/html.ts';
import { markdownEditor } from '../../../parts/markdown_editor.ts';
import { baseOf, requireBase } from '../../../parts/timeline/edit_conflicts.ts';
import {
  type EditConflict,
  conflictCard,
  findConflict,
  submitLabel,
} from '../../issuables/edit_conflict_card.ts';
import { findEditable } from '../../issuables/time_and_task_pages.ts';
import { oneRequest, requestPath, servedRequests } from '../find.ts';
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

/** Problems of the refused form. */
type Refused = { problems: FormProblems; conflict: EditConflict | null };

const editView = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  filled: Filled,
  { problems, conflict }: Refused = { problems: noProblems, conflict: null },
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
          problems,
        })
      : null;
  const content = html`<div class="form-page"><div data-edit-form>${form(
    visit,
    { action: requestPath(loaded, '/edit'), submit: submitLabel(conflict), problems },
    input({ name: 'title', label: 'Title', value: filled.title, required: true, problems }),
    markdownEditor({
      name: 'description',
      label: 'Description',
      value: filled.description,
      rows: 16,
      project,
      problems,
    }),
    target,
    ...mergeFields(project, filled),
    hidden('base', baseOf(merge_request)),
  )}${conflictCard(conflict, requestPath(loaded, '/edit'))}</div>
<p><a href="${requestPath(loaded)}">Back to the merge request</a></p></div>`;
  const title = `Edit !${merge_request.iid}`;
  const view = projectView(visit, { project, title, noun: 'merge_requests' }, content);
  return withFormStatus(view, problems);
};

const show = page({
  method: 'GET',
  path: `${servedRequests}/:iid/edit`,
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
  path: `${servedRequests}/:iid/edit`,
  audience: 'user',
  params: object({
    ...oneRequest,
    title: optional(longText()),
    description: optional(longText()),
    target_branch: optional(text({ maxLength: 1_000 })),
    squash: optional(boolean()),
    remove_source_branch: optional(boolean()),
    base: optional(text()),
  }),
  handle: async (visit, { project, iid, title = '', description: typed = '', base = '', ...rest }) => {
    const { call } = visit;
    const loaded = await findEditable(requestKind, call, { project, iid });
    const description = typed.replaceAll('\r\n', '\n');
    // Browsers send other line ends than the text may have.
    const before = (loaded.merge_request.description ?? '').replaceAll('\r\n', '\n');
    const edit = { ...rest, title, ...(description !== before && { description }) };
    const problems = await attempt(
      async () =>
        await updateMergeRequest(call, loaded, edit, ({ merge_request }) =>
          requireBase(base, merge_request, 'merge request'),
        ),
    );
    if (problems === null) return redirect(requestPath(loaded));
    const current = await findEditable(requestKind, call, { project, iid });
    const conflict = findConflict(base, current.merge_request, { title, description });
    const { target_branch = loaded.merge_request.target_branch, squash, remove_source_branch } = rest;
    const filled = {
      title,
      description,
      target_branch,
      squash: squash === true,
      remove_source_branch: remove_source_branch === true,
    };
    return await editView(visit, current, filled, { problems, conflict });
  },
});

export const editPages = [show, update];
