/** Handlers for the forms of invitations by e-mail. They call the operations of the API. */
import { forbidden } from '../../../../platform/errors.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { clearable, day, integer, names, object, optional, text } from '../../../../platform/http/schema.ts';
import { withdrawInvitation } from '../../../../projects/members/invitations/change.ts';
import { type Refusals, invite } from '../../../../projects/members/invitations/invite.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { type FormProblems, attempt } from '../../parts/form.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
import { membersView } from './list.ts';
import type { MemberList, MemberListRoute } from './project_or_group_routes.ts';

const findAdministered = async (
  { find }: MemberListRoute,
  visit: Visit,
  params: RawParams,
): Promise<MemberList> => {
  const list = await find(visit, params);
  if (!list.source.mayAdmin) throw forbidden();
  return list;
};

const typedIn = (sent: RawParams): Record<string, string> =>
  Object.fromEntries(
    ['email', 'access_level', 'expires_at'].flatMap((name) => {
      const value = sent[name];
      if (value === undefined) return [];
      return [[name, Array.isArray(value) ? value.join(', ') : fieldText(value)]];
    }),
  );

const refuse = async (
  visit: Visit,
  list: MemberList,
  { sent, problems }: { sent: RawParams; problems: FormProblems },
): Promise<View> => await membersView(visit, list, {}, { invitation: true, sent: typedIn(sent), problems });

const refusedAddresses = (refusals: Refusals): FormProblems | null => {
  const texts = Object.entries(refusals).map(([address, reason]) => `${address}: ${reason}`);
  return texts.length === 0 ? null : { text: texts.join('. '), fields: {} };
};

const invitePage = (route: MemberListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${route.routePath}/invitations`,
    audience: 'user',
    params: object({
      ...route.params,
      email: optional(names()),
      access_level: optional(integer()),
      expires_at: optional(clearable(day())),
    }),
    invalid: async (visit, sent, fields) => {
      const list = await findAdministered(route, visit, sent);
      return await refuse(visit, list, { sent, problems: { text: null, fields } });
    },
    handle: async (visit, params) => {
      const list = await findAdministered(route, visit, params);
      const { email: emails = [], access_level = 0, expires_at = null } = params;
      const sent = params;
      if (emails.length === 0)
        return await refuse(visit, list, {
          sent,
          problems: { text: null, fields: { email: ["can't be blank"] } },
        });
      const parts = {
        call: visit.call,
        kind: list.kind,
        source: list.source,
        role: { access_level, expires_at },
      };
      let refusals: Refusals = {};
      const problems =
        (await attempt(async () => void (refusals = await invite(parts, { emails, user_ids: [] })))) ??
        refusedAddresses(refusals);
      if (problems !== null) return await refuse(visit, list, { sent, problems });
      return redirect(
        list.path,
        emails.length === 1 ? 'The invitation was created.' : 'The invitations were created.',
      );
    },
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
