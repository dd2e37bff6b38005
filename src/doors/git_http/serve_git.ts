/** Serves git over HTTP: authorizes, then streams both ways with backpressure. */
import type { Readable } from 'node:stream';
import type { Call } from '../../core/access/call.ts';
import { isNotFound } from '../../platform/errors.ts';
import { discardBody } from '../../platform/http/body/discard_body.ts';
import { Answer } from '../../platform/http/endpoint.ts';
import { type Project, findProject } from '../../projects/projects/find.ts';
import { getRepository } from '../../code/repository/get_repository.ts';
import {
  type GitService,
  type GitUser,
  getHeadRef,
  hidesRequests,
  getQuota,
  seesPipelineRefs,
  refusalTexts,
  transferProblem,
} from '../../code/repository/refs/transfer_access.ts';
import { isGitProtocolEnabled } from '../../core/settings/setting_effects.ts';
import { Refusal, answering, challenge, neverKept } from './git_responses.ts';
import { TooManyFetches } from './fetch_limit.ts';
import { getCapabilities } from './capabilities.ts';
import { createForPush } from './create_by_push.ts';
import { errorPacket } from './git_notices.ts';
import { beginsWithin, isPacked, sendBody } from './request_body.ts';
import { signInGit } from './sign_in.ts';
import { type Admitted, type Manner, openFetch, openPush } from './open_transfers.ts';

/** Returns null for a project that is hidden or missing. */
const findVisibleProject = async (call: Call, { viewer }: GitUser, path: string): Promise<Project | null> => {
  if (path.includes('\0')) return null;
  try {
    const project = await findProject({ ...call, viewer }, path);
    return project;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
};

/**
 * Finds the project if this user may run this service in it. The service comes from the path, not from a parameter.
 * @throws Refusal
 */
const admit = async (call: Call, path: string, service: GitService): Promise<Admitted> => {
  if (!isGitProtocolEnabled(call.settings, 'http'))
    throw new Refusal(403, 'Git access over HTTP is not allowed');
  const user = await signInGit(call);
  const { baseUrl, ip, platform } = call;
  const existing = await findVisibleProject(call, user, path);
  const project = existing ?? (await createForPush(platform, user, { service, path, baseUrl }));
  if (typeof project === 'string') throw new Refusal(403, project);
  const problem = project === null ? refusalTexts.missing : transferProblem(user, project, service);
  if (project !== null && problem === null) {
    return { user, project, path, address: `${baseUrl}/${project.full_path}.git`, ip, baseUrl };
  }
  // An anonymous user gets a challenge, whether the project exists or not.
  if (user.cause === null) throw challenge();
  throw new Refusal(project === null ? 404 : 403, problem ?? '');
};

/** Parses the header `Git-Protocol`; anything unknown is version 0. */
const parseProtocol = ({ header }: Call): 0 | 1 | 2 => {
  const version = /^version=([12])$/.exec(header('git-protocol') ?? '')?.[1];
  return version === undefined ? 0 : version === '1' ? 1 : 2;
};

const isService = (text: string | undefined): text is GitService =>
  text === 'git-upload-pack' || text === 'git-receive-pack';

const readAdvertisement = async (
  call: Call,
  { user, project }: Admitted,
  service: GitService,
): Promise<Buffer | Readable> => {
  const { platform } = call;
  const protocol = parseProtocol(call);
  if (service === 'git-upload-pack' && protocol === 2) return await getCapabilities(platform, project);
  const { config } = platform;
  const head = getHeadRef(project, config);
  const hide_requests = hidesRequests(user, project);
  const pipelines = seesPipelineRefs(user, project);
  const params = { service, protocol, quota: getQuota(config), head, hide_requests, pipelines };
  const stream = await getRepository(platform, project).stream('transport.advertise', params);
  stream.writable.end();
  return stream.readable;
};

export const serveAdvertisement = async (
  call: Call,
  path: string,
  service: string | undefined,
): Promise<Answer> =>
  await answering(call, async () => {
    if (!isService(service)) throw new Refusal(403, 'Only the smart HTTP protocol of git is supported.');
    const admitted = await admit(call, path, service);
    const headers = { ...neverKept, 'content-type': `application/x-${service}-advertisement` };
    return new Answer(await readAdvertisement(call, admitted, service), { headers });
  });

const requireType = ({ header }: Call, service: GitService): void => {
  const type = header('content-type')?.split(';')[0]?.trim();
  if (type !== `application/x-${service}-request`)
    throw new Refusal(415, 'Unexpected Content-Type; expected application/x-git-*-request.');
};

const servePush = async (
  { platform, incoming }: Call,
  admitted: Admitted,
  manner: Manner,
): Promise<Readable> => {
  const { stream, leave, answer } = await openPush(platform, admitted, manner);
  sendBody(incoming, stream.writable, leave, getQuota(platform.config).push_bytes);
  return answer();
};

const serveFetch = async (
  { platform, incoming }: Call,
  admitted: Admitted,
  manner: Manner,
): Promise<Readable> => {
  const stream = await openFetch(platform, admitted, manner);
  // The client may have disconnected while waiting for a slot.
  if (incoming.destroyed) stream.destroy();
  sendBody(incoming, stream.writable, stream.destroy, null);
  return stream.readable;
};

/**
 * Challenges anonymous users who request merge request refs that are for members only. Git sends credentials only after
 * a challenge, and the code of a public project needs none.
 * @throws Refusal 401
 */
const askForRequests = async ({ incoming }: Call, { user, project }: Admitted): Promise<void> => {
  if (user.cause !== null || project.merge_requests_access_level !== 'private') return;
  if (await beginsWithin(incoming, 'ref-prefix refs/merge-requests/')) throw challenge();
};

export const serveService = async (call: Call, path: string, service: GitService): Promise<Answer> =>
  await answering(call, async () => {
    const admitted = await admit(call, path, service);
    requireType(call, service);
    isPacked(call.incoming);
    if (service === 'git-upload-pack') await askForRequests(call, admitted);
    const manner: Manner = { protocol: parseProtocol(call), stateless: true };
    const serve = service === 'git-upload-pack' ? serveFetch : servePush;
    const headers = { ...neverKept, 'content-type': `application/x-${service}-result` };
    try {
      return new Answer(await serve(call, admitted, manner), { status: 200, headers });
    } catch (error) {
      if (!(error instanceof TooManyFetches)) throw error;
      // Status 200: git would not show the text of another status.
      await discardBody(call.incoming);
      return new Answer(errorPacket(error.message), { status: 200, headers });
    }
  });
