/** Opens fetches and pushes, for HTTP and SSH. */
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Platform } from '../../core/platform.ts';
import type { GitStream } from '../../platform/git/open_stream.ts';
import type { Project } from '../../projects/projects/find.ts';
import { getRepository } from '../../code/repository/get_repository.ts';
import { createPushHandlers } from '../../code/repository/refs/push.ts';
import {
  type GitUser,
  getHeadRef,
  hidesRequests,
  getQuota,
  seesPipelineRefs,
  transferClient,
} from '../../code/repository/refs/transfer_access.ts';
import { takeFetchSlot } from './fetch_limit.ts';
import { movedLines, insertNotices } from './git_notices.ts';
import { pushMessages } from './push_messages.ts';

/** `stateless`: one request and its answer, as over HTTP; else a conversation. */
export type Manner = { protocol: 0 | 1 | 2; stateless: boolean };

export type Admitted = {
  user: GitUser;
  project: Project;
  /** Path that the client used, without `.git`; may be a former path of the project. */
  path: string;
  /** Current address, for the same protocol. */
  address: string;
  ip: string;
  /** Base of the URLs shown to the pusher. */
  baseUrl: string;
};

/** Adds messages for the user to the answer. */
const withNotices = (
  stream: GitStream<'transport.upload_pack'>,
  lines: string[],
): GitStream<'transport.upload_pack'> => {
  const through = insertNotices(lines);
  pipeline(stream.readable, through).catch(() => stream.destroy());
  return { ...stream, readable: through };
};

/** @throws TooManyFetches */
export const openFetch = async (
  platform: Platform,
  { user, project, path, address, ip }: Admitted,
  manner: Manner,
): Promise<GitStream<'transport.upload_pack'>> => {
  const leave = await takeFetchSlot(platform, user, ip);
  const head = getHeadRef(project, platform.config);
  const hide_requests = hidesRequests(user, project);
  const client = transferClient(user, ip);
  const params = { ...manner, head, hide_requests, pipelines: seesPipelineRefs(user, project), client };
  try {
    const stream = await getRepository(platform, project).stream('transport.upload_pack', params);
    stream.result.then(leave, leave);
    const lines = movedLines(project, path, address);
    return lines.length === 0 ? stream : withNotices(stream, lines);
  } catch (error) {
    leave();
    throw error;
  }
};

export type OpenPush = {
  stream: GitStream<'transport.receive_pack'>;
  /** The client disconnected: ends the push, unless refs may have changed. */
  leave: () => void;
  /** Git's answer; a reader that stops has disconnected. */
  answer: () => Readable;
};

export const openPush = async (
  platform: Platform,
  { user, project, path, address, baseUrl, ip }: Admitted,
  manner: Manner,
): Promise<OpenPush> => {
  const moved = movedLines(project, path, address);
  const context = { user, projectId: project.id, baseUrl };
  const answers = createPushHandlers(platform, {
    project,
    user,
    messages: async (updates, pushOptions) => [
      ...moved,
      ...(await pushMessages(platform, context, { updates, push_options: pushOptions })),
    ],
  });
  const quota = getQuota(platform.config);
  const stream = await getRepository(platform, project).stream(
    'transport.receive_pack',
    { ...manner, quota, client: transferClient(user, ip) },
    answers,
  );
  stream.result.then(answers.end, answers.end);
  const leave = (): void => {
    if (answers.isBegun()) stream.readable.resume();
    else stream.destroy();
  };
  const answer = (): Readable => {
    const { readable } = stream;
    const through = new PassThrough();
    readable.on('error', (error) => through.destroy(error));
    through.once('close', () => {
      if (readable.readableEnded || readable.destroyed) return;
      readable.unpipe(through);
      leave();
    });
    return readable.pipe(through);
  };
  return { stream, leave, answer };
};
