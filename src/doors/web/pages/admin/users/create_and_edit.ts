/** The form of a user, and the pages that create and change one. */
import type { Static } from 'typebox';
import { requireActor } from '../../../../../core/access/call.ts';
import { createUser } from '../../../../../identity/users/create.ts';
import { type UserRow, loadUser } from '../../../../../identity/users/queries.ts';
import { type UserChanges, updateUser } from '../../../../../identity/users/update.ts';
import { type Problems, notFound } from '../../../../../platform/errors.ts';
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
import {
  type FormProblems,
  answerForm,
  attempt,
  checkbox,
  form,
  input,
  noProblems,
  textArea,
  withFormStatus,
} from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';
import { usersPath } from './list.ts';
import { userHead } from './user_page.ts';
import { fieldText } from '../../../parts/fields/field_text.ts';

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

const params = object(account);
type Filled = Static<typeof params>;

const texts = (given: Filled, problems: FormProblems): Html[] => [
  input({ name: 'name', label: 'Name', value: given.name, autocomplete: 'off', required: true, problems }),
  input({
    name: 'username',
    label: 'User name',
    hint: "Used in the addresses of the user's profile and projects.",
    value: given.username,
    autocomplete: 'off',
    required: true,
    problems,
  }),
  input({
    name: 'email',
    label: 'E-mail',
    type: 'email',
    value: given.email,
    autocomplete: 'off',
    required: true,
    problems,
  }),
];

const rights = (given: Filled, problems: FormProblems): Html => html`<fieldset><legend>Access</legend>
${checkbox({ name: 'admin', label: 'Administrator', hint: 'Sees and changes everything on this service.', checked: given.admin, problems })}
${checkbox({
  name: 'external',
  label: 'External',
  hint: 'Sees internal projects only as a member. Cannot create projects or groups.',
  checked: given.external,
  problems,
})}
${checkbox({ name: 'can_create_group', label: 'Can create groups', checked: given.can_create_group, problems })}
${input({ name: 'projects_limit', label: 'Maximum number of personal projects', type: 'number', min: 0, value: given.projects_limit, required: true, problems })}
</fieldset>
`;

const noteField = ({ note }: Filled, problems: FormProblems): Html =>
  textArea({
    name: 'note',
    label: 'Note',
    hint: 'Only administrators see it.',
    value: note ?? null,
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

const newView = (visit: Visit, given: Filled, problems = noProblems): View => {
  const content = form(
    visit,
    { action: usersPath, submit: 'Create user', problems },
    ...texts(given, problems),
    passwordField(problems),
    rights(given, problems),
    noteField(given, problems),
  );
  const view = adminView({ path: usersPath, title: 'New user' }, content);
  return withFormStatus(view, problems);
};

const editView = (visit: Visit, user: UserRow, given: Filled, problems = noProblems): View => {
  const content = html`${userHead(visit, user, 'edit')}
${form(
  visit,
  { action: `${usersPath}/${user.id}/edit`, submit: 'Save changes', problems },
  ...texts(given, problems),
  rights(given, problems),
  noteField(given, problems),
)}`;
  const view = adminView({ path: usersPath, title: `Edit ${user.name}` }, content);
  return withFormStatus(view, problems);
};

const filledFrom = (user: UserRow): Filled => ({
  name: user.name,
  username: user.username,
  email: user.email,
  admin: user.admin === 1,
  external: user.external === 1,
  can_create_group: user.can_create_group === 1,
  projects_limit: user.projects_limit,
  note: user.note,
});

const lastOf = (raw: unknown): unknown => (Array.isArray(raw) ? (raw as unknown[]).at(-1) : raw);
/** Input to show again when the form was invalid. */
const asTyped = (sent: RawParams): Filled => ({
  name: fieldText(sent['name']),
  username: fieldText(sent['username']),
  email: fieldText(sent['email']),
  admin: lastOf(sent['admin']) === '1',
  external: lastOf(sent['external']) === '1',
  can_create_group: lastOf(sent['can_create_group']) === '1',
  projects_limit: Number(fieldText(sent['projects_limit'])) || 0,
  note: fieldText(sent['note']),
});

/** Places the message of a taken name or address at its field. */
const onFields = (problems: FormProblems): FormProblems => {
  const [, field, problem] = /^(Email|Username) (.+)$/.exec(problems.text ?? '') ?? [];
  if (field === undefined || problem === undefined) return problems;
  return { text: null, fields: { [field.toLowerCase()]: [problem] } };
};

const blank = ({ call: { settings } }: Visit): Filled => ({
  name: '',
  username: '',
  email: '',
  admin: false,
  external: false,
  can_create_group: true,
  projects_limit: settings.default_projects_limit,
  note: null,
});

const create = [
  page({
    method: 'GET',
    path: `${usersPath}/new`,
    audience: 'admin',
    params: object({}),
    handle: async (visit) => newView(visit, blank(visit)),
  }),
  page({
    method: 'POST',
    path: usersPath,
    audience: 'admin',
    params: object({ ...account, password: optional(text({ maxLength: 1000 })) }),
    invalid: async (visit, sent, fields: Problems) => newView(visit, asTyped(sent), { text: null, fields }),
    handle: async (visit, { password = '', ...given }) => {
      const { call } = visit;
      const user = { ...given, ...(password !== '' && { password }) };
      return await answerForm(
        async () => {
          const made = await createUser(call.platform, requireActor(call), user);
          return redirect(`${usersPath}/${made}`, `${given.username} was created.`);
        },
        (problems) => newView(visit, given, onFields(problems)),
      );
    },
  }),
];

/** Loads a user who can be changed. @throws Failure 404, also for the ghost */
export const loadChangeable = async ({ call: { db } }: Visit, userId: number): Promise<UserRow> => {
  const user = await loadUser(db, userId);
  if (user.ghost === 1) throw notFound('User');
  return user;
};

/** Omits unchanged limits, so that the defaults apply to a user who is no longer external. */
const changesOf = (user: UserRow, { can_create_group, projects_limit, ...given }: Filled): UserChanges => ({
  ...given,
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
      return editView(visit, user, filledFrom(user));
    },
  }),
  page({
    method: 'POST',
    path: `${usersPath}/:id/edit`,
    audience: 'admin',
    params: object({ id: id(), ...account }),
    invalid: async (visit, sent, fields: Problems) => {
      if ('id' in fields) throw notFound('User');
      const user = await loadChangeable(visit, Number(sent['id']));
      return editView(visit, user, asTyped(sent), { text: null, fields });
    },
    handle: async (visit, { id: userId, ...given }) => {
      const { call } = visit;
      const user = await loadChangeable(visit, userId);
      const problems = await attempt(
        async () => await updateUser(call.platform, requireActor(call), userId, changesOf(user, given)),
      );
      if (problems !== null) return editView(visit, user, given, onFields(problems));
      return redirect(`${usersPath}/${userId}`, 'The changes were saved.');
    },
  }),
];

export const formPages = [...create, ...edit];
