/** Serves a page: authentication, authorization, CSRF check, parameters, handler. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../../../core/access/call.ts';
import { openPageCall } from '../../../core/access/open_call.ts';
import type { Platform } from '../../../core/platform.ts';
import { Failure, type Problems, forbidden, notFound } from '../../../platform/errors.ts';
import { isFactorOverdue } from '../../../core/access/credentials/second_factor_due.ts';
import { getFileParams, getFileParts, getReceivedFiles } from '../../../platform/http/body/file_parts.ts';
import { maxQueryBytes, parsePageForm } from '../../../platform/http/body/parse_body.ts';
import { readLargeBody } from '../../../platform/http/body/large_bodies.ts';
import { tooLong } from '../../../platform/http/failure.ts';
import { type ParamsReader, type RawParams, paramsReader } from '../../../platform/http/params.ts';
import { object } from '../../../platform/http/schema.ts';
import { problemsOf } from '../parts/form_problems.ts';
import { type AnyPage, type RawPage, type Redirect, type View, redirect } from '../page.ts';
import { projectRoot } from '../project_and_group_pages.ts';
import { largeForms } from '../routes.ts';
import { canonicalPath } from './project_paths.ts';
import { type OpenVisit, answer, isOurForm, openVisit } from './open_visit.ts';

const readers = new WeakMap<AnyPage, ParamsReader>();

const readerOf = (page: AnyPage): ParamsReader => {
  const cached = readers.get(page);
  if (cached !== undefined) return cached;
  const made = paramsReader(page.params);
  readers.set(page, made);
  return made;
};

/** A ticked checkbox sends its hidden 0 and its 1 (`checkbox` in `form.ts`). */
const isTicked = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 2 && value[0] === '0' && value[1] === '1';

const withBoxes = ({ params }: AnyPage, sent: RawParams): RawParams => {
  const properties = Object.entries(params.properties) as [string, { type?: unknown }][];
  const ticked = properties.filter(([name, { type }]) => type === 'boolean' && isTicked(sent[name]));
  return ticked.length === 0 ? sent : { ...sent, ...Object.fromEntries(ticked.map(([name]) => [name, '1'])) };
};

/** Returns the body of a form. That of a large one is read here: the visitor is known now. */
const readForm = async ({ method, path }: AnyPage, request: FastifyRequest): Promise<Buffer | undefined> => {
  const max = largeForms.get(`${method} ${path}`);
  return max === undefined ? (request.body as Buffer | undefined) : await readLargeBody(request, max);
};

const sentBy = async (page: AnyPage, request: FastifyRequest): Promise<RawParams> => {
  const query = request.query as RawParams;
  // As sent: the route path encodes file names a second time.
  if (request.originalUrl.length > maxQueryBytes) throw tooLong();
  const body = request.method === 'POST' ? await readForm(page, request) : undefined;
  if (body === undefined) return query;
  return { ...query, ...(await parsePageForm(request.headers['content-type'], body)) };
};

/** Longer paths, and paths with a credential, are not used as return paths. */
const longestBack = 2000;
const credentials = /[?&](?:private_token|access_token|bearer_token|job_token|feed_token)=/;

/** Redirects to the sign-in page, with a path to return to. The content of a form is lost. */
const toSignIn = ({ path }: OpenVisit, { method }: FastifyRequest): Redirect => {
  const isKept = method !== 'POST' && path !== '/' && path.length <= longestBack && !credentials.test(path);
  return redirect(isKept ? `/users/sign_in?return_to=${encodeURIComponent(path)}` : '/users/sign_in');
};

const pathReaders = new WeakMap<AnyPage, ParamsReader>();

/** Returns the parser of the parameters in the address alone. @param path these parameters */
const pathReaderOf = (page: AnyPage, path: RawParams): ParamsReader => {
  const existing = pathReaders.get(page);
  if (existing !== undefined) return existing;
  const properties = Object.entries(page.params.properties).filter(([name]) => Object.hasOwn(path, name));
  const reader = paramsReader(object(Object.fromEntries(properties)));
  pathReaders.set(page, reader);
  return reader;
};

/** Returns whether a record could have this address: not if a word stands where it has a number. */
const canNameRecord = (page: AnyPage, path: RawParams): boolean => {
  try {
    pathReaderOf(page, path)(path);
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
};

const problemsIn = (error: unknown): Problems | null => {
  const problems = problemsOf(error);
  return problems !== null && Object.keys(problems.fields).length > 0 ? problems.fields : null;
};

/** @param path the parameters in the address, which name records */
const runPage = async (
  page: AnyPage,
  visit: OpenVisit,
  { form, path }: { form: RawParams; path: RawParams },
): Promise<View | Redirect | RawPage> => {
  const sent = { ...form, ...path };
  let params: Record<string, unknown>;
  try {
    const files = getReceivedFiles(sent, getFileParams(page.params));
    params = readerOf(page)({ ...withBoxes(page, sent), ...files });
  } catch (error) {
    // Answered as a hidden record, also if other parameters are invalid.
    if (error instanceof Failure && !canNameRecord(page, path)) throw notFound();
    const problems = problemsIn(error);
    if (problems === null || page.invalid === undefined) throw error;
    return await page.invalid(visit, sent, problems);
  }
  return await page.handle(visit, params, sent);
};

const unknownRoute = (): Failure => new Failure('not_found', { error: '404 Not Found' });

const hiddenKinds = new Set<Failure['kind']>(['not_found', 'forbidden', 'unauthorized']);

/**
 * Returns whether signing in might lift the refusal. Missing records count, because anonymous visitors cannot
 * distinguish them from hidden records.
 */
const mayNeedSignIn = (page: AnyPage, { call }: OpenVisit, error: unknown): boolean =>
  page.audience === 'visitor' && !call.signedIn && error instanceof Failure && hiddenKinds.has(error.kind);

/** Checks for a request of `go get`. Any path of a project could be a package. */
const isGoGet = ({ path }: AnyPage, { method, query }: FastifyRequest): boolean =>
  method === 'GET' && path.startsWith(projectRoot) && (query as RawParams)['go-get'] === '1';

/** Pages of the user's account that show or create credentials; only the profile is visible to others. */
const isOwnAccount = ({ method, path }: AnyPage): boolean =>
  /^\/(?:profile|oauth|users\/auth)(?:\/|$)/.test(path) && !(method === 'GET' && path === '/profile');

/**
 * Keeps administrators who act as another user from the credentials of that user, which would outlast the
 * impersonation.
 * @throws Failure 403
 */
const requireOwnSession = (page: AnyPage, { sudo_by_id }: Actor): void => {
  if (sudo_by_id !== null && isOwnAccount(page))
    throw forbidden('This page is closed while you act as another user. Stop impersonating first.');
};

/** Returns whether the answer is a feed, which its token may authenticate. */
const isFeedRequest = ({ isFeed }: AnyPage, { query }: FastifyRequest): boolean =>
  isFeed === true || (isFeed === 'atom' && (query as RawParams)['format'] === 'atom');

/** Answers an error in the frame of the user where there is one. @throws other errors */
const answerError = async (
  visit: OpenVisit,
  { page, request, reply }: { page: AnyPage; request: FastifyRequest; reply: FastifyReply },
  error: unknown,
): Promise<FastifyReply> => {
  if (isFeedRequest(page, request) || !(error instanceof Failure)) throw error;
  const { toErrorView } = await import('./error_view.ts');
  const view = await toErrorView(visit.call, request, error);
  if (view === null) throw error;
  // A notice waits for the next page.
  return await answer({ ...visit, flash: null }, reply, view);
};

/** The order: authenticate, authorize, verify the form's token, parse the parameters, run the page. */
export const serve = async (
  platform: Platform,
  page: AnyPage,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> => {
  const visit = await openVisit(request, await openPageCall(platform, request, isFeedRequest(page, request)));
  if (isGoGet(page, request)) {
    const { goGetPage } = await import('./go_get.ts');
    const answered = await goGetPage(visit.call, visit.path);
    if (answered !== null) return await answer(visit, reply, answered);
  }
  const { signedIn, admin } = visit.call;
  const isClosed = page.audience === 'user' || page.audience === 'admin' || page.method === 'POST';
  if (page.audience !== 'anyone' && isClosed && !signedIn) {
    return await answer(visit, reply, toSignIn(visit, request));
  }
  if (visit.call.actor !== null) requireOwnSession(page, visit.call.actor);
  const canonical = page.method === 'GET' ? canonicalPath(visit.path) : visit.path;
  if (canonical !== visit.path) return await answer(visit, reply, redirect(canonical));
  if (page.withoutRequiredFactor !== true && isFactorOverdue(visit.factorDueAt, visit.call.now)) {
    return await answer(visit, reply, redirect('/profile/two_factor'));
  }
  // Same answer as for an unknown route.
  if (page.audience === 'admin' && !admin) throw new Failure('not_found', { message: '404 Not Found' });
  const form = await sentBy(page, request);
  visit.files = getFileParts(form);
  const shown = { audience: page.audience, token: form['authenticity_token'] };
  const needsToken = page.method === 'POST' && page.isSignedLink !== true;
  if (needsToken && !isOurForm(visit, request, shown)) {
    throw new Failure('unprocessable', { message: '422 Unprocessable Entity' });
  }
  const path = request.params as RawParams;
  try {
    return await answer(visit, reply, await runPage(page, visit, { form, path }));
  } catch (error) {
    if (!mayNeedSignIn(page, visit, error)) return await answerError(visit, { page, request, reply }, error);
    // For programs, a URL without a readable page is an unknown route.
    if (request.headers.accept?.includes('text/html') !== true) throw unknownRoute();
    return await answer(visit, reply, toSignIn(visit, request));
  }
};
