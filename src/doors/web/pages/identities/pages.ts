import { type Call, requireActor, requireUser } from '../../../../core/access/call.ts';
import { Failure, notFound } from '../../../../platform/errors.ts';
import { recordAudit } from '../../../../core/access/audit.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { linkIdentity, unlinkIdentity } from '../../../../identity/identities/link_identity.ts';
import {
  type Claims,
  type Proofs,
  exchangeClaims,
  providerUrl,
} from '../../../../identity/identities/oidc.ts';
import { isEnabled } from '../../../../identity/identities/providers.ts';
import { resolveUser } from '../../../../identity/identities/resolve_user.ts';
import {
  type Started,
  deriveProofs,
  readState,
  makeState,
} from '../../../../identity/identities/sign_in_state.ts';
import { getCountedNames } from '../../../../identity/sessions/failure_counts.ts';
import { countFailure, requireFewFailures } from '../../../../identity/sessions/sign_in_failures.ts';
import { needsSecondFactor } from '../../../../identity/sessions/second_factor.ts';
import { collectBlockedSignIn } from '../../../../identity/sessions/check_password.ts';
import { startSession } from '../../../../identity/sessions/start_session.ts';
import type { SignInProvider } from '../../../../platform/config/sign_in_providers.ts';
import { html } from '../../parts/html.ts';
import { safeRedirectPath } from '../../request/safe_redirect_path.ts';
import { Redirect, type View, type Visit, page, redirect } from '../../page.ts';
import { askSecondFactor } from '../two_factor/challenge.ts';
import { identitiesPath, ownPages } from './own_identities.ts';

const providerParams = object({ provider: text(), return_to: optional(text({ maxLength: 4096 })) });

const callbackOf = ({ baseUrl }: Call, { name }: SignInProvider): string =>
  `${baseUrl}/users/auth/${name}/callback`;

const proofs = (key: string, state: string): Proofs => ({ state, ...deriveProofs(key, state) });

const purpose = 'sign-in';

/** Redirects back to the start with the reason of the failure. */
const stopped = ({ call }: Visit, reason: string): Redirect =>
  new Redirect(call.signedIn ? identitiesPath : '/users/sign_in', { kind: 'alert', text: reason });

/**
 * Finds the provider of this name, or redirects with the reason why it is off.
 * @throws Failure 404 for an unknown one
 */
const providerOf = (visit: Visit, name: string): SignInProvider | Redirect => {
  const { platform, settings } = visit.call;
  const provider = platform.config.sign_in_providers.find((one) => one.name === name);
  if (provider === undefined) throw notFound();
  return isEnabled(provider, settings)
    ? provider
    : stopped(visit, `Signing in with ${provider.label} is turned off.`);
};

/** Calls the provider. Returns null, and logs a line, where its answer is invalid. */
const asking = async <T>(
  { call }: Visit,
  provider: SignInProvider,
  work: () => Promise<T>,
): Promise<T | null> => {
  try {
    return await work();
  } catch (error) {
    // Log only the kind of error: its details may contain personal data.
    const { name, code, message } = error as { name?: string; code?: string; message?: string };
    call.platform.log.warn(
      { provider: provider.name, error: name, code, message },
      'sign-in by a provider failed',
    );
    return null;
  }
};

/**
 * Sends the browser to the provider by a page instead of a redirect: browsers apply `form-action` to redirects, and the
 * provider's origin is unknown beforehand.
 */
const onward = ({ label }: SignInProvider, url: string): View => ({
  title: `To ${label}`,
  headers: { refresh: `0; url=${url}` },
  body: html`<h1>To ${label}</h1>
<p><a href="${url}">Continue to ${label}</a></p>`,
});

const start = page({
  method: 'POST',
  path: '/users/auth/:provider',
  audience: 'anyone',
  params: providerParams,
  handle: async (visit, { provider: name, return_to }) => {
    const { call } = visit;
    const provider = providerOf(visit, name);
    if (provider instanceof Redirect) return provider;
    const key = visit.browserKey(purpose);
    const started: Started = {
      provider: provider.name,
      at: call.now,
      return_to: call.signedIn ? identitiesPath : safeRedirectPath(return_to, call.baseUrl),
      user_id: call.actor?.user.id ?? null,
    };
    const state = makeState(key, started, call.platform.random(16).toString('base64url'));
    const url = await asking(
      visit,
      provider,
      async () => await providerUrl(provider, callbackOf(call, provider), proofs(key, state), call.now),
    );
    return url === null ? stopped(visit, `${provider.label} cannot be reached.`) : onward(provider, url);
  },
});

const link = async (visit: Visit, { name, label }: SignInProvider, { sub }: Claims): Promise<Redirect> => {
  const { call } = visit;
  const account = { provider: name, extern_uid: sub };
  const isLinked = await linkIdentity(call.platform.store, call, requireUser(call).id, account);
  return isLinked
    ? redirect(identitiesPath, `You can now sign in with ${label}.`)
    : stopped(visit, `That account at ${label} is another user's, or you have linked another one.`);
};

/** Names under which a failure counts, like a wrong password: each attempt calls the provider and writes a log line. */
const failureNames = ({ ip }: Call, provider: string): string[] => getCountedNames(ip, `by ${provider}`);

const refuse = async (visit: Visit, { name }: SignInProvider, reason: string): Promise<Redirect> => {
  const { call } = visit;
  const audited = { kind: 'session.failed', details: { provider: name } };
  await call.write(async (tx) => {
    await countFailure(tx, failureNames(call, name));
    await recordAudit(tx, null, call, audited);
  });
  return stopped(visit, reason);
};

type SignIn = { provider: SignInProvider; claims: Claims; return_to: string };

const signIn = async (visit: Visit, { provider, claims, return_to }: SignIn): Promise<View | Redirect> => {
  const { call } = visit;
  const { platform } = call;
  const outcome = await resolveUser({ platform, source: call, provider, claims });
  if ('refused' in outcome) return await refuse(visit, provider, outcome.refused);
  const { user_id } = outcome;
  const back = safeRedirectPath(return_to, call.baseUrl);
  if (await needsSecondFactor(call.db, user_id)) {
    return await askSecondFactor(visit, { user_id, provider: provider.name }, back);
  }
  const session = { user_id, provider: provider.name, source: call, replaced: visit.sessionSecret };
  try {
    visit.changeSession(await startSession(platform, session));
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'forbidden') throw error;
    await call.write(async (tx) => collectBlockedSignIn(tx, { id: user_id }));
    return await refuse(visit, provider, 'This account has been blocked. An administrator can tell you why.');
  }
  return redirect(back);
};

const comeBack = page({
  method: 'GET',
  path: '/users/auth/:provider/callback',
  audience: 'anyone',
  params: providerParams,
  handle: async (visit, { provider: name }) => {
    const { call } = visit;
    const provider = providerOf(visit, name);
    if (provider instanceof Redirect) return provider;
    const url = new URL(callbackOf(call, provider));
    url.search = visit.path.includes('?') ? visit.path.slice(visit.path.indexOf('?')) : '';
    const key = visit.browserKey(purpose);
    const state = url.searchParams.get('state') ?? '';
    const started = readState(key, state, provider.name, call.now);
    if (started === null || started.user_id !== (call.actor?.user.id ?? null)) {
      return stopped(visit, 'The sign-in expired or was started in another browser. Try again.');
    }
    await requireFewFailures(call.db, failureNames(call, provider.name), call.now);
    const claims = await asking(
      visit,
      provider,
      async () => await exchangeClaims(provider, url, proofs(key, state), call.now),
    );
    if (claims === null) return await refuse(visit, provider, `${provider.label} did not sign you in.`);
    if (started.user_id !== null) return await link(visit, provider, claims);
    return await signIn(visit, { provider, claims, return_to: started.return_to });
  },
});

const unlink = page({
  method: 'POST',
  path: `${identitiesPath}/:provider/unlink`,
  audience: 'user',
  params: object({ provider: text() }),
  handle: async ({ call }, { provider }) => {
    await unlinkIdentity(call.platform.store, requireActor(call), call, {
      user_id: requireUser(call).id,
      provider,
    });
    return redirect(identitiesPath, 'The account was unlinked.');
  },
});

export const pages = [start, comeBack, ...ownPages, unlink];
