import { type Call, requireActor, requireUser } from '../../../../core/access/call.ts';
import { invalid } from '../../../../platform/errors.ts';
import { boolean, clearable, object, optional, text } from '../../../../platform/http/schema.ts';
import { confirmPassword } from '../../../../identity/sessions/confirm_password.ts';
import { loadConfirmedAddressesById } from '../../../../identity/users/addresses/further_addresses.ts';
import { type UserRow, loadUser } from '../../../../identity/users/queries.ts';
import { normalizedEmail } from '../../../../identity/users/rules.ts';
import { updateUser } from '../../../../identity/users/update.ts';
import { isTicked, readTexts } from '../../parts/fields/field_text.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { checkbox, form, input, textArea } from '../../parts/form.ts';
import { type FormProblems, noProblems, withFormStatus } from '../../parts/form_problems.ts';
import { html } from '../../parts/html.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { avatarPages, avatarPart } from './avatar.ts';
import { type StatusState, statusPage, statusPart } from './status.ts';
import { accountView } from '../../parts/frame/account_layout.ts';

const long = () => text({ maxLength: 2000 });

const profileFields = {
  name: long(),
  email: long(),
  current_password: optional(text({ maxLength: 1000 })),
  show_email: boolean({ default: false }),
  bio: clearable(long()),
  location: clearable(long()),
  organization: clearable(long()),
  website_url: clearable(long()),
  twitter: optional(clearable(long())),
  linkedin: optional(clearable(long())),
  skype: optional(clearable(long())),
};

const textNames = [
  'name',
  'email',
  'bio',
  'location',
  'organization',
  'website_url',
  'twitter',
  'linkedin',
  'skype',
] as const;

type Filled = Record<(typeof textNames)[number], string | null> & { show_email: boolean };

const lines = (filled: Filled, problems: FormProblems) => [
  input({ name: 'name', label: 'Name', value: filled.name, autocomplete: 'name', required: true, problems }),
  input({
    name: 'email',
    label: 'E-mail',
    type: 'email',
    value: filled.email,
    autocomplete: 'email',
    required: true,
    problems,
  }),
  input({
    name: 'current_password',
    label: 'Current password',
    type: 'password',
    hint: 'Needed only to change the e-mail address.',
    autocomplete: 'current-password',
    problems,
  }),
  checkbox({
    name: 'show_email',
    label: 'Show my e-mail address to everyone',
    checked: filled.show_email,
    problems,
  }),
  textArea({ name: 'bio', label: 'About me', value: filled.bio, rows: 3, problems }),
  input({ name: 'location', label: 'Location', value: filled.location, problems }),
  input({
    name: 'organization',
    label: 'Organization',
    value: filled.organization,
    autocomplete: 'organization',
    problems,
  }),
  input({ name: 'website_url', label: 'Website', value: filled.website_url, autocomplete: 'url', problems }),
  input({
    name: 'twitter',
    label: 'Twitter',
    hint: 'User name, such as @maria.',
    value: filled.twitter,
    problems,
  }),
  input({
    name: 'linkedin',
    label: 'LinkedIn',
    hint: 'The part of your profile address after /in/.',
    value: filled.linkedin,
    problems,
  }),
  input({ name: 'skype', label: 'Skype', hint: 'Skype name.', value: filled.skype, problems }),
];

type Problems = {
  /** For the form of texts. */
  texts?: FormProblems;
  /** For the avatar. */
  picture?: FormProblems;
  /** A refused form of the status. */
  status?: StatusState;
};

const filledFrom = (user: UserRow): Filled => ({ ...user, show_email: user.public_email !== null });

/** @param filled input to show again; default: the stored values */
const profileView = async (visit: Visit, problems: Problems = {}, filled?: Filled): Promise<View> => {
  const user = await loadUser(visit.call.db, requireUser(visit.call).id);
  const { username } = user;
  const { texts = noProblems, picture = noProblems, status } = problems;
  const view = accountView(
    '/profile',
    'Profile',
    html`<p>Signed in as <strong>${username}</strong>. <a href="/${username}">View your profile</a> or <a href="/profile/account">change your user name</a>.</p>
${avatarPart(visit, user, picture)}
${await statusPart(visit, status)}${form(visit, { action: '/profile', submit: 'Save changes', problems: texts }, ...lines(filled ?? filledFrom(user), texts))}`,
  );
  return [texts, picture, status?.problems ?? noProblems].reduce(withFormStatus, view);
};

const show = page({
  method: 'GET',
  path: '/profile',
  audience: 'user',
  params: object({}),
  handle: async (visit) => await profileView(visit),
});

/** @throws Failure 400 under `show_email` */
const requireConfirmed = async ({ db }: Call, id: number, address: string): Promise<void> => {
  const confirmed = await loadConfirmedAddressesById(db, id);
  if (!confirmed.includes(normalizedEmail(address)))
    throw invalid({ show_email: ['needs an address that you have confirmed'] });
};

const save = formPage({
  path: '/profile',
  audience: 'user',
  address: {},
  fields: profileFields,
  find: async ({ call }) => requireUser(call),
  fromSent: (sent): Filled => ({
    ...readTexts(sent, textNames),
    show_email: isTicked(sent['show_email']),
  }),
  run: async ({ call }, { id, email }, { current_password = '', show_email, ...texts }) => {
    if (normalizedEmail(texts.email) !== email) await confirmPassword(call, current_password);
    const shown = (await loadUser(call.db, id)).public_email;
    // Keeps the secondary address that is currently public.
    const address = shown === null || shown === email ? texts.email : shown;
    const public_email = show_email ? address : null;
    if (public_email !== null) await requireConfirmed(call, id, public_email);
    await updateUser(call.platform, requireActor(call), id, { ...texts, public_email });
    return redirect('/profile', 'Your profile was saved.');
  },
  view: async (visit, _user, { values, problems }) => await profileView(visit, { texts: problems }, values),
});

export const profilePages = [
  show,
  save,
  statusPage(async (visit, status) => await profileView(visit, { status })),
  ...avatarPages(async (visit, picture) => await profileView(visit, { picture })),
];
