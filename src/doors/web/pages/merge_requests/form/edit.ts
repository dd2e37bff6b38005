/** The form for the title, the description and the target of a merge request. */
import { openCode } from '../../../../../code/repository/find_code.ts';
import { branchPrefix } from '../../../../../code/repository/refs/resolve.ts';
import type { RawParams } from '../../../../../platform/http/params.ts';
import { boolean, object, optional, text } from '../../../../../platform/http/schema.ts';
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { updateMergeRequest } from '../../../../../review/merge_requests/update.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { fieldText, isTicked, readTexts } from '../../../parts/fields/field_text.ts';
import { formPage } from '../../../parts/fields/form_page.ts';
import { hidden, input } from '../../../parts/form.ts';
import type { Html } from '../../../parts/html.ts';
import { requireUnchanged } from '../../../parts/timeline/edit_conflicts.ts';
import { findConflict } from '../../issuables/edit_conflict_card.ts';
import { baseParam, editFormView, editedTexts, notRefused, toEdit } from '../../issuables/edit_form.ts';
import { findEditable } from '../../issuables/find_editable.ts';
import { requireShownTarget } from '../../issuables/merge_concurrent_edits.ts';
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

/** What the form showed of the values about the merge. Absent: the form replaces the value. */
const shownParams = {
  shown_target_branch: optional(text({ maxLength: 1_000 })),
  shown_squash: optional(boolean()),
  shown_remove_source_branch: optional(boolean()),
};

type MergeValues = Partial<Pick<Filled, 'target_branch' | 'squash' | 'remove_source_branch'>>;

type SentMergeValues = { [N in keyof MergeValues]?: Filled[N] | undefined } & {
  [N in keyof MergeValues as `shown_${N}`]?: Filled[N] | undefined;
};

/** Returns the values that the form changes. The others stay, so that what somebody else chose meanwhile stays. */
const changedValues = (sent: SentMergeValues): MergeValues => {
  const { target_branch, squash, remove_source_branch } = sent;
  return {
    ...(target_branch !== undefined && target_branch !== sent.shown_target_branch && { target_branch }),
    ...(squash !== undefined && squash !== sent.shown_squash && { squash }),
    ...(remove_source_branch !== undefined &&
      remove_source_branch !== sent.shown_remove_source_branch && { remove_source_branch }),
  };
};

const storedValues = ({ merge_request }: LoadedMergeRequest): Required<MergeValues> => ({
  target_branch: merge_request.target_branch,
  squash: merge_request.squash === 1,
  remove_source_branch: merge_request.force_remove_source_branch === 1,
});

const shownFields = (loaded: LoadedMergeRequest): Html[] =>
  Object.entries(storedValues(loaded)).map(([name, value]) =>
    hidden(`shown_${name}`, typeof value === 'boolean' ? String(Number(value)) : value),
  );

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
  const fields = [target, ...mergeFields(project, filled), ...shownFields(loaded)];
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
    const { title, description } = loaded.merge_request;
    const texts = { title, description: description ?? '' };
    return await editView(visit, loaded, { ...texts, ...storedValues(loaded) });
  },
});

const mergeParams = {
  target_branch: optional(text({ maxLength: 1_000 })),
  squash: optional(boolean()),
  remove_source_branch: optional(boolean()),
};

const readMergeValues = ({ target_branch, squash, remove_source_branch }: RawParams): MergeValues => ({
  ...(target_branch !== undefined && { target_branch: fieldText(target_branch) }),
  ...(squash !== undefined && { squash: isTicked(squash) }),
  ...(remove_source_branch !== undefined && { remove_source_branch: isTicked(remove_source_branch) }),
});

const update = formPage({
  path: `${requestsRoutePath}/:iid/edit`,
  audience: 'user',
  address: { ...oneRequest, ...baseParam, ...shownParams },
  fields: { ...editedTexts, ...mergeParams },
  find: async ({ call }, { project, iid, base = '', ...shown }) => {
    const named = { project, iid };
    return { loaded: await findEditable(requestKind, call, named), named, base, shown };
  },
  fromSent: (sent, { shown }) => ({
    typed: readTexts(sent, ['title', 'description']),
    changed: changedValues({ ...shown, ...readMergeValues(sent) }),
  }),
  run: async ({ call }, { loaded, base, shown }, { title = '', description = '', ...sent }, { typed }) => {
    const changed = changedValues(sent);
    const edit = { ...changed, ...toEdit(loaded.merge_request, { title, description }) };
    await updateMergeRequest(call, loaded, edit, (locked) => {
      requireUnchanged(base, locked.merge_request, 'merge request', typed);
      requireShownTarget(shown.shown_target_branch, changed.target_branch, locked);
    });
    return redirect(requestPath(loaded));
  },
  view: async (visit, { named, base }, { values: { typed, changed }, problems }) => {
    const current = await findEditable(requestKind, visit.call, named);
    const conflict = findConflict(base, current.merge_request, typed);
    const filled = { ...typed, ...storedValues(current), ...changed };
    return await editView(visit, current, filled, { problems, conflict });
  },
});

export const editPages = [show, update];
