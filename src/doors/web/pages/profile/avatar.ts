/** The avatar of the user's account: show, upload and remove. */
import { requireActor } from '../../../../core/access/call.ts';
import { uploadedAvatarUrl } from '../../../../identity/avatars/avatar_urls.ts';
import { withAvatar } from '../../../../identity/avatars/store_avatar.ts';
import type { UserRow } from '../../../../identity/users/queries.ts';
import { updateUser } from '../../../../identity/users/update.ts';
import { invalid } from '../../../../platform/errors.ts';
import { object } from '../../../../platform/http/schema.ts';
import { avatar } from '../../parts/avatar.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { form } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
import { avatarInput } from '../../parts/fields/avatar_input.ts';

const path = '/profile/avatar';

/** Renders the picture with its forms. */
export const avatarPart = (visit: Visit, user: UserRow, problems: FormProblems): Html => {
  const avatar_url = uploadedAvatarUrl(visit.call, 'user', user);
  const upload = form(
    visit,
    { action: path, submit: 'Upload', hasFiles: true, isQuiet: true, problems },
    avatarInput(problems),
  );
  const removal =
    user.avatar !== null && form(visit, { action: `${path}/delete`, submit: 'Remove picture', danger: true });
  return html`<div class="row">${avatar({ name: user.name, avatar_url, size: 'large' })}<div>${upload}${removal}</div></div>
`;
};

/** @param refuse shows the profile again with the problems */
export const avatarPages = (refuse: (visit: Visit, problems: FormProblems) => Promise<View>): AnyPage[] => [
  formPage({
    path,
    audience: 'user',
    address: {},
    fields: {},
    find: async () => null,
    fromSent: () => null,
    run: async (visit) => {
      const { call } = visit;
      const actor = requireActor(call);
      const file = visit.file('avatar');
      if (file === null) throw invalid({ avatar: ["can't be blank"] });
      await withAvatar(
        call.platform,
        file,
        async (columns) => await updateUser(call.platform, actor, actor.user.id, columns),
      );
      return redirect('/profile', 'Your picture was saved.');
    },
    view: async (visit, _found, { problems }) => await refuse(visit, problems),
  }),
  page({
    method: 'POST',
    path: `${path}/delete`,
    audience: 'user',
    params: object({}),
    handle: async ({ call }) => {
      const actor = requireActor(call);
      await updateUser(call.platform, actor, actor.user.id, { avatar: null });
      return redirect('/profile', 'Your picture was removed.');
    },
  }),
];
