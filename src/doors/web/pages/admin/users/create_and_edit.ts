/** The form of a user, and the pages that create and change one. */
import type { Static } from 'typebox';
import { requireActor } from '../../../../../core/access/call.ts';
import { createUser } from '../../../../../identity/users/create.ts';
import { type UserRow, loadUser } from '../../../../../identity/users/queries.ts';
import { type UserChanges, updateUser } from '../../../../../identity/users/update.ts';
import { notFound } from '../../../../../platform/errors.ts';
import type { RawParams } from '../../../../../platform/http/params.ts';
import {
  boolean,
  clearable,
  id,
  integer,
  longText,
  object,
  optional,
  text,
} from '../../../../../platform/http/schema.ts';
import { checkbox, form, input, textArea } from '../../../parts/form.ts';
import type { FormProblems } from '../../../parts/form_problems.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';
import { usersPath } from './list.ts';
import { userHead } from './user_page.ts';
import { isTicked, readTexts } from '../../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../../parts/fields/form_page.ts';

const long = () => text({ maxLength: 2000 });

const account = {
  name: long(),
  username: long(),
  email: long(),
  admin: boolean({ default: false }),
  external: boolean({ default: false }),
  can_create_group: boolean({ default: false }),
  projects_limit: integer({ minimum: 0, maximum: 2_147_483_647 }),
  note: optional(clearable(longText())),
};

const shape = object(account);

const textNames = ['name', 'username', 'email', 'projects_limit', 'note'] as const;

type UserValues = Record<(typeof textNames)[number], string> & {
  admin: boolean;
  external: boolean;
  can_create_group: boolean;
};

type UserState = FormState<UserValues>;

const texts = ({ values, problems }: UserState): Html[] => [
  input({ name: 'name', label: 'Name', value: values.name, autocomplete: 'off', required: true, problems }),
  input({
    name: 'username',
    label: 'User name',
    hint: "Used in the addresses of the user's profile and projects.",
    value: values.username,
    autocomplete: 'off',
    required: true,
    problems,
  }),
  input({
    name: 'email',
    label: 'E-mail',
    type: 'email',
    value: values.email,
    autocomplete: 'off',
    required: true,
    problems,
  }),
];

const rights = ({ values, problems }: UserState): Html => html`<fieldset><legend>Access</legend>
${checkbox({ name: 'admin', label: 'Administrator', hint: 'Sees and changes everything on this service.', checked: values.admin, problems })}
${checkbox({
  name: 'external',
  label: 'External',
  hint: 'Sees internal projects only as a member. Cannot create projects or groups.',
  checked: values.external,
  problems,
})}
${checkbox({ name: 'can_create_group', label: 'Can create groups', checked: values.can_create_group, problems })}
${input({ name: 'projects_limit', label: 'Maximum number of personal projects', type: 'number', min: 0, value: values.projects_limit, required: true, problems })}
</fieldset>
`;

const noteField = ({ values, problems }: UserState): Html =>
  textArea({
    name: 'note',
    label: 'Note',
    hint: 'Only administrators see it.',
    value: values.note,
    rows: 3,
    problems,
  });

const passwordField = (problems: FormProblems): Html =>
  input({
    name: 'password',
    label: 'Password',
    type: 'password',
    hint: 'Leave empty to set a random password. To give the user one, reset it on their page.',
    autocomplete: 'new-password',
    problems,
  });

const newView = (visit: Visit, state: UserState): View => {
  const { problems } = state;
  const content = form(
    visit,
    { action: usersPath, submit: 'Create user', problems },
    ...texts(state),
    passwordField(problems),
    rights(state),
    noteField(state),
  );
  return adminView({ path: usersPath, title: 'New user' }, content);
};

const editView = (visit: Visit, user: UserRow, state: UserState): View => {
  const { problems } = state;
  const content = html`${userHead(visit, user, 'edit')}
${form(
  visit,
  { action: `${usersPath}/${user.id}/edit`, submit: 'Save changes', problems },
  ...texts(state),
  rights(state),
  noteField(state),
)}`;
  return adminView({ path: usersPath, title: `Edit ${user.name}` }, content);
};

const getBlank = ({ call: { settings } }: Visit): UserValues => ({
  name: '',
  username: '',
  email: '',
  admin: false,
  external: false,
  can_create_group: true,
  projects_limit: String(settings.default_projects_limit),
  note: '',
});

const fromRecord = (user: UserRow): UserValues => ({
  name: user.name,
  username: user.username,
  email: user.email,
  admin: user.admin === 1,
  external: user.external === 1,
  can_create_group: user.can_create_group === 1,
  projects_limit: String(user.projects_limit),
  note: user.note ?? '',
});

const fromSent = (sent: RawParams): UserValues => ({
  ...readTexts(sent, textNames),
  admin: isTicked(sent['admin']),
  external: isTicked(sent['external']),
  can_create_group: isTicked(sent['can_create_group']),
});

/** Places the message of a taken name or address at its field. */
const toProblems = (problems: FormProblems): FormProblems => {
  const [, field, problem] = /^(Email|Username) (.+)$/.exec(problems.text ?? '') ?? [];
  if (field === undefined || problem === undefined) return problems;
  return { text: null, fields: { [field.toLowerCase()]: [problem] } };
};

const create = [
  page({
    method: 'GET',
    path: `${usersPath}/new`,
    audience: 'admin',
    params: object({}),
    handle: async (visit) => newView(visit, unsent(getBlank(visit))),
  }),
  formPage({
    path: usersPath,
    audience: 'admin',
    address: {},
    fields: { ...account, password: optional(text({ maxLength: 1000 })) },
    find: async () => null,
    fromSent,
    toProblems,
    run: async ({ call }, _found, { password = '', ...params }) => {
      const user = { ...params, ...(password !== '' && { password }) };
      const userId = await createUser(call.platform, requireActor(call), user);
      return redirect(`${usersPath}/${userId}`, `${params.username} was created.`);
    },
    view: (visit, _found, state) => newView(visit, state),
  }),
];

/** Loads a user who can be changed. @throws Failure 404, also for the ghost */
export const loadChangeable = async ({ call: { db } }: Visit, userId: number): Promise<UserRow> => {
  const user = await loadUser(db, userId);
  if (user.ghost === 1) throw notFound('User');
  return user;
};

/** Leaves out unchanged limits: for a user who ceases to be external, the usual ones apply then. */
const toEdit = (
  user: UserRow,
  { can_create_group, projects_limit, ...params }: Static<typeof shape>,
): UserChanges => ({
  ...params,
  ...(can_create_group !== (user.can_create_group === 1) && { can_create_group }),
  ...(projects_limit !== user.projects_limit && { projects_limit }),
});

const edit = [
  page({
    method: 'GET',
    path: `${usersPath}/:id/edit`,
    audience: 'admin',
    params: object({ id: id() }),
    handle: async (visit, params) => {
      const user = await loadChangeable(visit, params.id);
      return editView(visit, user, unsent(fromRecord(user)));
    },
  }),
  formPage({
    path: `${usersPath}/:id/edit`,
    audience: 'admin',
    address: { id: id() },
    fields: account,
    find: async (visit, address) => await loadChangeable(visit, address.id),
    fromSent,
    toProblems,
    run: async ({ call }, user, { id: userId, ...params }) => {
      await updateUser(call.platform, requireActor(call), userId, toEdit(user, params));
      return redirect(`${usersPath}/${userId}`, 'The changes were saved.');
    },
    view: editView,
  }),
];

export const formPages = [...create, ...edit];
