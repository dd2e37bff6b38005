/** Opens fetches and pushes, for whichever door they come through. */
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Platform } from '../access/call.ts';
import type { GitStream } from '../git/stream.ts';
import type { Project } from '../projects/find.ts';
import { repositoryOf } from '../repository/open.ts';
import { answerPush } from '../repository/push.ts';
import {
  type GitUser,
  headOf,
  hidesRequests,
  quotaOf,
  seesPipelineRefs,
  transferClient,
} from '../repository/transfer.ts';
import { takeFetchPlace } from './fetch_places.ts';
import { movedLines, telling } from './moved.ts';
import { pushMessages } from './push_messages.ts';

/** `stateless`: one request and its answer, as over HTTP; else a conversation. */
export type Manner = { protocol: 0 | 1 | 2; stateless: boolean };

export type Admitted = {
  user: GitUser;
  project: Project;
  /** By which he named it, without `.git`: perhaps one of before. */
  path: string;
  /** Its address now, by the door that he came through. */
  address: string;
  ip: string;
  /** Of the addresses that a pusher is told. */
  baseUrl: string;
};

/** The same stream, in whose answer people read lines. */
const withTold = (
  stream: GitStream<'transport.upload_pack'>,
  lines: string[],
): GitStream<'transport.upload_pack'> => {
  const through = telling(lines);
  pipeline(stream.readable, through).catch(() => stream.destroy());
  return { ...stream, readable: through };
};

/** @throws TooManyFetches */
export const openFetch = async (
  platform: Platform,
  { user, project, path, address, ip }: Admitted,
  manner: Manner,
): Promise<GitStream<'transport.upload_pack'>> => {
  const leave = await takeFetchPlace(platform, user, ip);
  const head = headOf(project, platform.config);
  const hide_requests = hidesRequests(user, project);
  const client = transferClient(user, ip);
  const params = { ...manner, head, hide_requests, pipelines: seesPipelineRefs(user, project), client };
  try {
    const stream = await repositoryOf(platform, project).stream('transport.upload_pack', params);
    stream.result.then(leave, leave);
    const lines = movedLines(project, path, address);
    return lines.length === 0 ? stream : withTold(stream, lines);
  } catch (error) {
    leave();
    throw error;
  }
};

export type OpenPush = {
  stream: GitStream<'transport.receive_pack'>;
  /** The pusher has gone: ends it, unless refs may have moved. */
  leave: () => void;
  /** What git answers; who stops reading has gone. */
  answer: () => Readable;
};

export const openPush = async (
  platform: Platform,
  { user, project, path, address, baseUrl, ip }: Admitted,
  manner: Manner,
): Promise<OpenPush> => {
  const moved = movedLines(project, path, address);
  const told = { user, projectId: project.id, baseUrl };
  const answers = answerPush(platform, {
    project,
    user,
    messages: async (updates, pushOptions) => [
      ...moved,
      ...(await pushMessages(platform, told, { updates, push_options: pushOptions })),
    ],
  });
  const quota = quotaOf(platform.config);
  const stream = await repositoryOf(platform, project).stream(
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
