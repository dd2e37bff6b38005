/** Opens fetches and pushes, for whichever door they come through. */
import { PassThrough, type Readable } from 'node:stream';
import type { Platform } from '../access/call.ts';
import type { GitStream } from '../git/stream.ts';
import type { Project } from '../projects/find.ts';
import { repositoryOf } from '../repository/open.ts';
import { answerPush } from '../repository/push.ts';
import { type GitUser, headOf, hidesRequests, quotaOf } from '../repository/transfer.ts';
import { pushMessages } from './push_messages.ts';

/** `stateless`: one request and its answer, as over HTTP; else a conversation. */
export type Manner = { protocol: 0 | 1 | 2; stateless: boolean };

export type Admitted = {
  user: GitUser;
  project: Project;
  /** Of the addresses that a pusher is told. */
  baseUrl: string;
};

export const openFetch = async (
  platform: Platform,
  { user, project }: Admitted,
  manner: Manner,
): Promise<GitStream<'transport.upload_pack'>> => {
  const head = headOf(project, platform.config);
  const hide_requests = hidesRequests(user, project);
  const params = { ...manner, head, hide_requests, pipelines: user.isJob === true };
  return await repositoryOf(platform, project).stream('transport.upload_pack', params);
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
  { user, project, baseUrl }: Admitted,
  manner: Manner,
): Promise<OpenPush> => {
  const told = { user, projectId: project.id, baseUrl };
  const answers = answerPush(platform, {
    project,
    user,
    messages: async (updates) => await pushMessages(platform, told, updates),
  });
  const quota = quotaOf(platform.config);
  const stream = await repositoryOf(platform, project).stream(
    'transport.receive_pack',
    { ...manner, quota },
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
