/** Handlers for the forms of invitations by e-mail. They call the operations of the API. */
import { invalid, refused } from '../../../../platform/errors.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { clearable, day, integer, names, object, optional, text } from '../../../../platform/http/schema.ts';
import { withdrawInvitation } from '../../../../projects/members/invitations/change.ts';
import { invite } from '../../../../projects/members/invitations/invite.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { type AnyPage, page, redirect } from '../../page.ts';
import { membersView } from './list.ts';
import { type MemberListRoute, findAdministered } from './project_or_group_routes.ts';

const typedIn = (sent: RawParams): Record<string, string> =>
  Object.fromEntries(
    ['email', 'access_level', 'expires_at'].flatMap((name) => {
      const value = sent[name];
      if (value === undefined) return [];
      return [[name, Array.isArray(value) ? value.join(', ') : fieldText(value)]];
    }),
  );

const invitePage = (route: MemberListRoute): AnyPage =>
  formPage({
    path: `${route.routePath}/invitations`,
    audience: 'user',
    address: route.params,
    fields: {
      email: optional(names()),
      access_level: optional(integer()),
      expires_at: optional(clearable(day())),
    },
    find: async (visit, address) => await findAdministered(route, visit, address),
    fromSent: typedIn,
    run: async ({ call }, { kind, source, path }, params) => {
      const { email: emails = [], access_level = 0, expires_at = null } = params;
      if (emails.length === 0) throw invalid({ email: ["can't be blank"] });
      const parts = { call, kind, source, role: { access_level, expires_at } };
      const refusals = Object.entries(await invite(parts, { emails, user_ids: [] }));
      if (refusals.length > 0)
        throw refused(refusals.map(([address, reason]) => `${address}: ${reason}`).join('. '));
      return redirect(
        path,
        emails.length === 1 ? 'The invitation was created.' : 'The invitations were created.',
      );
    },
    view: async (visit, list, { values: sent, problems }) =>
      await membersView(visit, list, {}, { invitation: true, sent, problems }),
  });

const withdrawPage = (route: MemberListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${route.routePath}/invitations/remove`,
    audience: 'user',
    params: object({ ...route.params, email: optional(text({ maxLength: 255 })) }),
    handle: async (visit, params) => {
      const list = await findAdministered(route, visit, params);
      await withdrawInvitation(visit.call, list, params.email ?? '');
      return redirect(list.path, 'The invitation was withdrawn.');
    },
  });

export const invitationPages = (route: MemberListRoute): AnyPage[] => [
  invitePage(route),
  withdrawPage(route),
];
