/** The page of an invitation by mail: people sign in or sign up, then accept or decline. */
import { requireUser } from '../../../../core/access/call.ts';
import { acceptByLink, declineByLink } from '../../../../identity/invitations/accept.ts';
import {
  type Invitation,
  type InvitationPlace,
  loadPlace,
  readInvitationToken,
} from '../../../../identity/invitations/links.ts';
import { object, text } from '../../../../platform/http/schema.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { form, hidden } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { nameRole } from '../../parts/projects/role.ts';
import { type View, type Visit, page, redirect, withRefusal } from '../../page.ts';
import { headedView } from '../../parts/frame/headed_view.ts';

const shared = { audience: 'anyone', withoutRequiredFactor: true } as const;
const address = { token: text({ maxLength: 200 }) };

const expiredView = (): View =>
  withRefusal(
    headedView(
      'Expired invitation',
      html`<p>This invitation was accepted or withdrawn, or it has expired. Ask for another one.</p>`,
    ),
  );

const signInPart = (visit: Visit, token: string): Html => {
  const back = encodeURIComponent(`/users/invitation?token=${token}`);
  return html`<p>Sign in with the account that has this address, or sign up.</p>
<div class="buttons"><a class="button primary" href="/users/sign_in?return_to=${back}">Sign in</a>
${visit.call.settings.signup_enabled && html`<a class="button" href="/users/sign_up?invitation=${token}">Sign up</a>`}</div>`;
};

const answerPart = async (visit: Visit, { email }: Invitation, token: string): Promise<Html> => {
  const { call } = visit;
  const own = await call.db
    .selectFrom('users')
    .select('id')
    .where('id', '=', requireUser(call).id)
    .where('email', '=', email)
    .executeTakeFirst();
  if (own === undefined)
    return html`<p>Your account has another address. Sign out, and sign in with the account that has the address of the invitation, or change the address in your profile.</p>`;
  return html`<div class="buttons">${form(visit, { action: '/users/invitation/accept', submit: 'Accept' }, hidden('token', token))}
${form(visit, { action: '/users/invitation/decline', submit: 'Decline', isQuiet: true }, hidden('token', token))}</div>`;
};

const invitationView = async (
  visit: Visit,
  invitation: Invitation,
  { place, token }: { place: InvitationPlace; token: string },
): Promise<View> => {
  const { kind, full_path, inviter } = place;
  const answer = visit.call.signedIn ? await answerPart(visit, invitation, token) : signInPart(visit, token);
  return headedView(
    'Invitation',
    html`<p>${inviter ?? 'Somebody'} invited <strong>${invitation.email}</strong> to the ${kind} <strong>${full_path}</strong>. Role: ${nameRole(invitation.access_level)}${invitation.expires_at !== null && html`, until ${invitation.expires_at}`}.</p>
${answer}`,
  );
};

/** What the answers to an invitation share. A refusal ends the link. */
const answerPage = {
  ...shared,
  address,
  fields: {},
  find: async (_visit: Visit, { token }: { token: string }) => token,
  fromSent: () => null,
  view: () => expiredView(),
};

export const pages = [
  page({
    ...shared,
    method: 'GET',
    path: '/users/invitation',
    params: object(address),
    handle: async (visit, { token }) => {
      const { call } = visit;
      const at = { db: call.db, now: call.now };
      const invitation = await readInvitationToken(call.platform, at, token);
      const place = invitation === null ? null : await loadPlace(call.db, invitation);
      if (invitation === null || place === null) return expiredView();
      return await invitationView(visit, invitation, { place, token });
    },
  }),
  formPage({
    ...answerPage,
    path: '/users/invitation/accept',
    audience: 'user',
    run: async ({ call }, token) => {
      const invitation = await readInvitationToken(call.platform, { db: call.db, now: call.now }, token);
      const place = invitation === null ? null : await loadPlace(call.db, invitation);
      if (place === null) return expiredView();
      await acceptByLink(call.platform, requireUser(call).id, token);
      return redirect(`/${place.full_path}`, `You joined ${place.full_path}.`);
    },
  }),
  formPage({
    ...answerPage,
    path: '/users/invitation/decline',
    run: async ({ call }, token) => {
      await declineByLink(call.platform, token);
      return redirect('/', 'You declined the invitation.');
    },
  }),
];
