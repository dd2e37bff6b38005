/** The page that creates a group or subgroup. */
import type { Call } from '../../../../core/access/call.ts';
import { mayInGroup } from '../../../../core/access/may.ts';
import { findVisibilityProblem } from '../../../../core/settings/setting_effects.ts';
import { createGroup, mayCreateGroup } from '../../../../identity/groups/create.ts';
import { type Group, findGroup, findGroupOrNull } from '../../../../identity/groups/find.ts';
import { listParents } from '../../../../identity/groups/list_parents.ts';
import { isWider } from '../../../../identity/groups/rules.ts';
import type { Visibility } from '../../../../platform/db/schema/column_types.ts';
import { Failure, forbidden } from '../../../../platform/errors.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { clearable, id, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { pathFromName } from '../../../../projects/projects/rules.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { form, input, select, textArea } from '../../parts/form.ts';
import { type FormProblems, noProblems, problemsOf, withFormStatus } from '../../parts/form_problems.ts';
import { html } from '../../parts/html.ts';
import { toVisibilityProblem, visibilityChoice } from '../../parts/fields/visibility.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { readTexts } from '../../parts/fields/field_text.ts';
import { formPage } from '../../parts/fields/form_page.ts';

type Filled = {
  parent_id?: string;
  name?: string;
  path?: string;
  description?: string;
  visibility?: string;
};

const names = ['parent_id', 'name', 'path', 'description', 'visibility'] as const;

/** Returns the chosen parent; null: none, or the visitor does not see it. */
const findParent = async (call: Call, chosen: string | undefined): Promise<Group | null> => {
  if (chosen === undefined || !/^\d{1,15}$/.test(chosen)) return null;
  return await findGroupOrNull(call, Number(chosen));
};

const parentSelect = async (call: Call, parent: Group | null, problems: FormProblems) => {
  const parents = await listParents(call);
  const listed = parents.map((group) => [String(group.id), group.full_path.replaceAll('/', ' / ')] as const);
  const isListed = parent === null || parents.some((group) => group.id === parent.id);
  return select({
    name: 'parent_id',
    label: 'Parent group',
    value: parent === null ? '' : String(parent.id),
    options: [
      ...(mayCreateGroup(call) ? [['', 'None (top-level group)'] as const] : []),
      ...(isListed ? listed : [...listed, [String(parent.id), parent.full_path] as const]),
    ],
    problems,
  });
};

const limitFor =
  (call: Call, parent: Group | null) =>
  (visibility: Visibility): string | null => {
    if (parent !== null && isWider(visibility, parent.visibility))
      return `Not available: the parent group is ${parent.visibility}.`;
    const isRestricted = findVisibilityProblem(call, visibility) !== null;
    return isRestricted ? 'Not available: restricted by an administrator.' : null;
  };

/** The visibility that a new group gets by default: never wider than its parent. */
const usualVisibility = ({ settings }: Call, parent: Group | null): Visibility => {
  const usual = settings.default_group_visibility;
  return parent !== null && isWider(usual, parent.visibility) ? parent.visibility : usual;
};

const newView = async (visit: Visit, filled: Filled, problems: FormProblems = noProblems): Promise<View> => {
  const { call } = visit;
  const parent = await findParent(call, filled.parent_id);
  const title = parent === null ? 'New group' : 'New subgroup';
  const content = form(
    visit,
    { action: '/groups', submit: title.replace('New', 'Create'), problems },
    input({ name: 'name', label: 'Name', value: filled.name ?? '', required: true, problems }),
    await parentSelect(call, parent, problems),
    input({
      name: 'path',
      label: 'Path',
      hint: 'Part of the address. Default: derived from the name.',
      value: filled.path ?? '',
      problems,
    }),
    textArea({
      name: 'description',
      label: 'Description (optional)',
      value: filled.description ?? '',
      rows: 3,
      problems,
    }),
    visibilityChoice({
      value: filled.visibility ?? usualVisibility(call, parent),
      limit: limitFor(call, parent),
      problems,
    }),
  );
  const body = html`<h1>${title}</h1>
<p class="muted">A group holds projects and subgroups that belong together. Its members have their role in all of them.</p>
<section class="card form-page"><div class="body">${content}</div></section>`;
  return withFormStatus({ title, body }, problems);
};

const fromSent = (sent: RawParams): Filled => {
  const { visibility, ...texts } = readTexts(sent, names);
  return { ...texts, ...(visibility !== '' && { visibility }) };
};

const refusedParent: FormProblems = {
  text: null,
  fields: { parent_id: ['does not allow you to create a subgroup'] },
};

/** Reads why nothing was created. A parent that is hidden, or refuses subgroups, is a problem of its field. */
const readFailure = (error: unknown): FormProblems | null => {
  const isParent = error instanceof Failure && ['not_found', 'forbidden'].includes(error.kind);
  return isParent ? refusedParent : problemsOf(error);
};

export const newPages = [
  page({
    method: 'GET',
    path: '/groups/new',
    audience: 'user',
    params: object({ parent_id: optional(clearable(id())) }),
    handle: async (visit, { parent_id = null }) => {
      const { call } = visit;
      const parent = parent_id === null ? null : await findGroup(call, parent_id);
      if (parent !== null && !mayInGroup(call.viewer, 'create_subgroup', parent)) throw forbidden();
      return await newView(visit, parent === null ? {} : { parent_id: String(parent.id) });
    },
  }),
  formPage({
    path: '/groups',
    audience: 'user',
    address: {},
    fields: {
      parent_id: optional(clearable(id())),
      name: text(),
      path: optional(text()),
      description: optional(text({ maxLength: 2_000 })),
      visibility: optional(oneOf(['private', 'internal', 'public'])),
    },
    find: async () => null,
    fromSent,
    readFailure,
    toProblems: (problems) => moveUnknownToText(toVisibilityProblem(problems), names),
    run: async ({ call }, _found, { parent_id = null, name, path = '', description = '', visibility }) => {
      const group = await createGroup(call, {
        name,
        path: path === '' ? pathFromName(name) : path,
        parent_id,
        description,
        ...(visibility !== undefined && { visibility }),
      });
      return redirect(`/groups/${group.full_path}`, `The group ${name} was created.`);
    },
    view: async (visit, _found, { values, problems }) => await newView(visit, values, problems),
  }),
];
