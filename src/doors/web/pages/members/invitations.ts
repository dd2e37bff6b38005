/** Invitations by e-mail on the page of members: the form, and the pending invitations. */
import { isMailOn } from '../../../../core/mail/enqueue_mails.ts';
import { isMembershipLocked } from '../../../../identity/groups/inherited_options.ts';
import { type ListedInvitation, listInvitations } from '../../../../projects/members/invitations/queries.ts';
import { form, hidden, input } from '../../parts/form.ts';
import { type FormProblems, noProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { relative } from '../../parts/timestamp.ts';
import type { Visit } from '../../page.ts';
import { roleFields } from './form.ts';
import type { MemberList } from './project_or_group_routes.ts';
import { nameRole } from '../../parts/projects/role.ts';

/** A refused form of invitations: its input and problems. */
export type TriedInvitation = {
  invitation: true;
  sent: Readonly<Record<string, string>>;
  problems: FormProblems;
};

/** Invitations that the page lists; the API has all. */
const maxListed = 100;

const inviteForm = (visit: Visit, list: MemberList, tried: TriedInvitation | null): Html => {
  const { sent, problems }: Omit<TriedInvitation, 'invitation'> = tried ?? { sent: {}, problems: noProblems };
  return form(
    visit,
    { action: `${list.path}/invitations`, submit: 'Invite', problems },
    input({
      name: 'email',
      label: 'E-mail addresses',
      hint: 'Separated by commas. People with an account become members immediately.',
      value: sent['email'] ?? '',
      autocomplete: 'off',
      required: true,
      problems,
    }),
    roleFields(list, {
      id: 'invitation',
      level: sent['access_level'] ?? '30',
      expires: sent['expires_at'] ?? '',
      problems,
    }),
  );
};

const mailState = ({ mailed_at, mail_error }: ListedInvitation): string => {
  if (mailed_at !== null) return 'Mail sent';
  return mail_error === null ? 'Mail not sent yet' : 'The mail server refused the mail';
};

const line = (visit: Visit, list: MemberList, invitation: ListedInvitation): Html => {
  const { email, access_level, expires_at, created_at, created_by_name } = invitation;
  const removal = form(
    visit,
    {
      action: `${list.path}/invitations/remove`,
      submit: 'Withdraw',
      name: `Withdraw the invitation of ${email}`,
      danger: true,
      isQuiet: true,
    },
    hidden('email', email),
  );
  return html`<li>
<span class="lead">${icon('user')}</span>
<span class="title">${email}</span>
<span class="meta"><span>Invited ${relative(created_at)}${created_by_name !== null && html` by ${created_by_name}`}</span><span>${mailState(invitation)}</span></span>
<span class="side">${expires_at !== null && html`<span>Until ${expires_at}</span>`}<strong>${nameRole(access_level)}</strong></span>
${removal}</li>
`;
};

/** Renders the form and the pending invitations; null if the visitor may not invite. */
export const invitationsPart = async (
  visit: Visit,
  list: MemberList,
  tried: TriedInvitation | null,
): Promise<Html | null> => {
  const { source } = list;
  const { call } = visit;
  if (!source.mayAdmin) return null;
  const isLocked = source.type === 'Project' && (await isMembershipLocked(call.db, source.namespace_id));
  const page = { page: 1, per_page: maxListed, limit: maxListed, offset: 0 };
  const { items, total } = await listInvitations(call.db, source, { query: '', now: call.now }, page);
  const pending = html`<section class="card" aria-labelledby="invitations_title"><header><h2 id="invitations_title">Pending invitations</h2></header>
<ul class="list">${items.map((invitation) => line(visit, list, invitation))}</ul></section>
${total > items.length && html`<p class="quiet">The first ${items.length} of ${total} invitations are shown.</p>`}`;
  const invite = html`<section class="card" aria-labelledby="invite_people_title"><header><h2 id="invite_people_title">Invite by e-mail</h2></header>
<div class="body">${inviteForm(visit, list, tried)}</div></section>
${!isMailOn(call.platform) && html`<p class="quiet">This service sends no mail. Tell the people whom you invite to sign up with the address, and to have it confirmed.</p>`}`;
  return html`${!isLocked && invite}${items.length > 0 && pending}`;
};
