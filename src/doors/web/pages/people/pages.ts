/** The page of a user; the same address of a group leads to the group's page. */
import { findGroup } from '../../../../identity/groups/find.ts';
import { publicProfile } from '../../../../identity/users/json.ts';
import { loadUser, userIdByName } from '../../../../identity/users/queries.ts';
import { unauthorized } from '../../../../platform/errors.ts';
import { object, text } from '../../../../platform/http/schema.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { avatar } from '../../parts/avatar.ts';
import { html } from '../../parts/html.ts';

const profilePage = async ({ call }: Visit, id: number): Promise<View> => {
  // As over the API, profiles are for those who have signed in.
  if (!call.signedIn) throw unauthorized();
  const { name, username, avatar_url } = publicProfile(await loadUser(call.db, id), call);
  return {
    title: `${name} (@${username})`,
    body: html`<div class="row">${avatar({ name, avatar_url, size: 'large' })}<div><h1>${name}</h1><p class="muted">@${username}</p></div></div>`,
  };
};

export const pages = [
  page({
    method: 'GET',
    path: '/-/namespaces/:name',
    audience: 'visitor',
    params: object({ name: text({ maxLength: 1_000 }) }),
    handle: async (visit, { name }) => {
      const id = await userIdByName(visit.call.db, name);
      if (id !== undefined) return await profilePage(visit, id);
      const group = await findGroup(visit.call, name);
      return redirect(`/groups/${group.full_path}`);
    },
  }),
];
