/** A request's way through a page. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Platform, openPageCall } from '../access/call.ts';
import { Failure, type Problems } from '../errors.ts';
import { longestQuery, parseBody } from '../http/body.ts';
import { tooLong } from '../http/failure.ts';
import { type ParamsReader, type RawParams, paramsReader } from '../http/params.ts';
import { problemsOf } from './form.ts';
import { type AnyPage, type Redirect, type View, redirect } from './page.ts';
import { type OpenVisit, answer, isOurForm, openVisit } from './visit.ts';

const readers = new WeakMap<AnyPage, ParamsReader>();

const readerOf = (page: AnyPage): ParamsReader => {
  const known = readers.get(page);
  if (known !== undefined) return known;
  const made = paramsReader(page.params);
  readers.set(page, made);
  return made;
};

/** A ticked box comes as its hidden 0 and its 1 (`checkbox` in `form.ts`). */
const isTicked = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 2 && value[0] === '0' && value[1] === '1';

const withBoxes = ({ params }: AnyPage, sent: RawParams): RawParams => {
  const properties = Object.entries(params.properties) as [string, { type?: unknown }][];
  const ticked = properties.filter(([name, { type }]) => type === 'boolean' && isTicked(sent[name]));
  return ticked.length === 0 ? sent : { ...sent, ...Object.fromEntries(ticked.map(([name]) => [name, '1'])) };
};

const sentBy = async (request: FastifyRequest): Promise<RawParams> => {
  const query = request.query as RawParams;
  if (request.url.length > longestQuery) throw tooLong();
  if (request.method !== 'POST' || request.body === undefined) return query;
  const type = request.headers['content-type'];
  return { ...query, ...(await parseBody('POST', type, request.body as Buffer)) };
};

/** Longer ones, and those with a credential in them, are not carried along. */
const longestBack = 2000;
const credentials = /[?&](?:private_token|access_token|bearer_token|job_token)=/;

/** Who is not signed in signs in first, and comes back; what he sent is not kept. */
const toSignIn = ({ path }: OpenVisit, { method }: FastifyRequest): Redirect => {
  const isKept = method !== 'POST' && path !== '/' && path.length <= longestBack && !credentials.test(path);
  return redirect(isKept ? `/users/sign_in?return_to=${encodeURIComponent(path)}` : '/users/sign_in');
};

const problemsIn = (error: unknown): Problems | null => {
  const problems = problemsOf(error);
  return problems !== null && Object.keys(problems.fields).length > 0 ? problems.fields : null;
};

const handled = async (page: AnyPage, visit: OpenVisit, sent: RawParams): Promise<View | Redirect> => {
  let params: Record<string, unknown>;
  try {
    params = readerOf(page)(withBoxes(page, sent));
  } catch (error) {
    const problems = problemsIn(error);
    if (problems === null || page.invalid === undefined) throw error;
    return await page.invalid(visit, sent, problems);
  }
  return await page.handle(visit, params);
};

/** The order: who asks, may he be here, does he mean it, what did he send, and then the page. */
export const serve = async (
  platform: Platform,
  page: AnyPage,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> => {
  const visit = openVisit(request, await openPageCall(platform, request));
  const { signedIn, admin } = visit.call;
  if (page.audience !== 'anyone' && !signedIn) return answer(visit, reply, toSignIn(visit, request));
  // Who is no administrator learns nothing of his pages, not even that they are.
  if (page.audience === 'admin' && !admin) throw new Failure('not_found', { message: '404 Not Found' });
  const sent = await sentBy(request);
  const shown = { audience: page.audience, token: sent['authenticity_token'] };
  if (page.method === 'POST' && !isOurForm(visit, request, shown)) {
    throw new Failure('unprocessable', { message: '422 Unprocessable Entity' });
  }
  const path = request.params as RawParams;
  return answer(visit, reply, await handled(page, visit, { ...sent, ...path }));
};
