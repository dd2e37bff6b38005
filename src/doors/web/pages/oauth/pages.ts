import type { Static } from 'typebox';
import { requireUser } from '../../../../core/access/call.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import {
  type AuthorizationRequest,
  denyRequest,
  grantRequest,
  hasConsent,
  readAuthorizationRequest,
} from '../../../../identity/oauth/authorize.ts';
import { loadUser } from '../../../../identity/users/queries.ts';
import { form, hidden } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { type Redirect, type View, type Visit, page, redirect } from '../../page.ts';
import { meaningOf } from '../tokens/scope_descriptions.ts';

const long = () => optional(text({ maxLength: 8192 }));

const asking = {
  client_id: long(),
  redirect_uri: long(),
  response_type: long(),
  response_mode: long(),
  scope: long(),
  state: long(),
  code_challenge: long(),
  code_challenge_method: long(),
};

/** Hidden fields that repeat the request, which is validated again after the decision. */
const fieldsOf = ({
  application,
  redirect_uri,
  scopes,
  state,
  code_challenge,
}: AuthorizationRequest): Html[] => [
  hidden('client_id', application.uid),
  hidden('redirect_uri', redirect_uri),
  hidden('response_type', 'code'),
  hidden('scope', scopes.join(' ')),
  ...(state === null ? [] : [hidden('state', state)]),
  ...(code_challenge === null
    ? []
    : [hidden('code_challenge', code_challenge), hidden('code_challenge_method', 'S256')]),
];

/** Describes the redirect target: a host, or the scheme of an app. */
const placeOf = (redirectUri: string): { origin: string; shown: string } => {
  const url = new URL(redirectUri);
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:';
  return isWeb ? { origin: url.origin, shown: url.host } : { origin: url.protocol, shown: url.protocol };
};

const decisionForm = (visit: Visit, request: AuthorizationRequest, decision: 'allow' | 'deny'): Html =>
  form(
    visit,
    {
      action: '/oauth/authorize',
      submit: decision === 'allow' ? 'Authorize' : 'Deny',
      danger: decision === 'deny',
    },
    ...fieldsOf(request),
    hidden('decision', decision),
  );

const consentView = async (visit: Visit, request: AuthorizationRequest): Promise<View> => {
  const { application, redirect_uri, scopes } = request;
  const { db } = visit.call;
  const owner = application.owner_id === null ? null : await loadUser(db, application.owner_id);
  const { origin, shown } = placeOf(redirect_uri);
  const user = requireUser(visit.call);
  const body = html`<h1>Authorize ${application.name}?</h1>
<p><strong>${application.name}</strong> wants to use your account <strong>${user.username}</strong>. ${
    owner === null
      ? 'It was registered by an administrator of this service.'
      : html`The user <strong>${owner.username}</strong> registered it; nobody else has reviewed it.`
  }</p>
<p>It will be able to:</p>
<ul>${scopes.map((scope) => html`<li>${meaningOf(scope)} <span class="quiet">(${scope})</span></li>`)}</ul>
<p>You will be redirected to <strong>${shown}</strong>. You can revoke this at any time in your profile.</p>
${decisionForm(visit, request, 'allow')}${decisionForm(visit, request, 'deny')}`;
  return { title: 'Authorize an application', body, formOrigins: [origin] };
};

const refusedView = (reason: string): View => ({
  title: 'Not authorized',
  status: 400,
  body: html`<h1>Not authorized</h1>
<p>${reason}</p>
<p>Contact the developers of the application.</p>`,
});

type Reply = Promise<View | Redirect>;

const answer = async (
  visit: Visit,
  sent: RawParams,
  go: (request: AuthorizationRequest, issuer: string) => Reply,
): Reply => {
  const { db, baseUrl, admin } = visit.call;
  const reading = await readAuthorizationRequest(db, sent, { admin, issuer: baseUrl });
  if (reading.kind === 'shown') return refusedView(reading.text);
  return reading.kind === 'redirect' ? redirect(reading.url) : await go(reading.request, baseUrl);
};

const grant = async ({ call }: Visit, request: AuthorizationRequest, issuer: string): Promise<Redirect> =>
  redirect(await grantRequest(call.platform, requireUser(call).id, request, issuer));

const ask = async (visit: Visit, sent: RawParams): Reply =>
  await answer(visit, sent, async (request, issuer) => {
    const { call } = visit;
    const isGranted = await hasConsent(call.db, requireUser(call).id, request);
    return isGranted ? await grant(visit, request, issuer) : await consentView(visit, request);
  });

const decided = object({ ...asking, decision: oneOf(['allow', 'deny']) });

const decide = async (visit: Visit, { decision, ...sent }: Static<typeof decided>): Reply =>
  await answer(visit, sent, async (request, issuer) =>
    decision === 'allow' ? await grant(visit, request, issuer) : redirect(denyRequest(request, issuer)),
  );

export const pages = [
  page({
    method: 'GET',
    path: '/oauth/authorize',
    audience: 'user',
    params: object(asking),
    handle: ask,
    // Invalid parameters, such as repeated parameters, are reported to the application if it is known.
    invalid: ask,
  }),
  page({ method: 'POST', path: '/oauth/authorize', audience: 'user', params: decided, handle: decide }),
];
