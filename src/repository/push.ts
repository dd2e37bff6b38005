/** Answers a push that git has received: whether its refs may move, and what follows once they have. */
import type { Platform } from '../access/call.ts';
import { actingViewer } from '../access/acting.ts';
import type { Reader, Tx } from '../db/open.ts';
import { reached } from '../git/effects.ts';
import type { AnswerPush, AnswerTold, AskPush, RefUpdate, TellPush } from '../git/protocol_types.ts';
import type { RepositoryPlace } from '../git/repository.ts';
import { loadProject } from '../projects/find.ts';

import {
  type Operation,
  beginOperation,
  dropOperation,
  finishOperation,
  stayOperation,
} from './operations.ts';
import { sealOptions } from './ci_push_options.ts';
import { protectedBranches, protectedTags } from './protected.ts';
import { fileProblem, pushProblems, sizeProblem } from './push_policy.ts';
import { type GitUser, quotaOf, texts, transferProblem } from './transfer.ts';

export type Push = {
  project: RepositoryPlace;
  user: GitUser;
  /** What the pusher reads afterwards, of those of his updates that were made. */
  messages: (updates: readonly RefUpdate[], pushOptions: readonly string[]) => Promise<string[]>;
};

/** What a stream of `transport.receive_pack` asks and tells. */
export type PushAnswers = {
  onAsk: (question: AskPush) => Promise<AnswerPush>;
  onTell: (news: TellPush) => Promise<AnswerTold>;
  /** Refs may have moved: from now on nobody must stop it, whoever leaves. */
  isBegun: () => boolean;
  /** The stream has ended, however. */
  end: () => void;
};

/** Milliseconds after which it is said again that somebody is at work: a push of many refs takes its time. */
const stillAtWork = 20_000;

const keyNow = async (
  db: Reader,
  user: GitUser & { deployKey: { id: number } },
  projectId: number,
): Promise<GitUser | null> => {
  const { id } = user.deployKey;
  const row = await db
    .selectFrom('deploy_key_projects')
    .select('can_push')
    .where('key_id', '=', id)
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  return row === undefined ? null : { ...user, deployKey: { id, canPush: row.can_push === 1 } };
};

/** As he is now: a long push may have outlived his rights. */
const userNow = async (db: Reader, push: Push, now: number): Promise<GitUser | null> => {
  const { user, project } = push;
  if (user.deployKey !== null) return await keyNow(db, { ...user, deployKey: user.deployKey }, project.id);
  if (user.cause === null) return user;
  const viewer = await actingViewer(db, user.cause.user.id, now);
  return viewer === null ? null : { ...user, viewer };
};

const problemsOf = async (
  tx: Tx,
  { config }: Platform,
  push: Push,
  { updates, largest_file, repository_size }: AskPush,
): Promise<string[]> => {
  const project = await loadProject(tx.db, push.project.id);
  const user = await userNow(tx.db, push, tx.now);
  if (project === null || user === null) return [texts.missing];
  const forbidden = transferProblem(user, project, 'git-receive-pack');
  if (forbidden !== null) return [forbidden];
  const quota = quotaOf(config);
  const tooLarge =
    fileProblem(largest_file, quota.file_bytes) ?? sizeProblem(repository_size, quota.repository_bytes);
  if (tooLarge !== null) return [tooLarge];
  const rules = {
    branches: await protectedBranches(tx.db, project.id),
    tags: await protectedTags(tx.db, project.id),
  };
  return pushProblems({ user, project, rules }, updates);
};

const updatesOf = (updates: readonly RefUpdate[]): RefUpdate[] =>
  updates.map((update) => ({ ref: update.ref, old: update.old, new: update.new }));

/**
 * The answers to one push. What is let through is written down first (`operations.ts`): where this process dies
 * before it is told, another one looks what git has done.
 */
export const answerPush = (platform: Platform, push: Push): PushAnswers => {
  const { store } = platform;
  let begun: Operation | null = null;
  let pushOptions: readonly string[] = [];
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => clearInterval(timer);
  return {
    isBegun: () => begun !== null,
    end,
    onAsk: async (question) => {
      const result = await store.write(async (tx) => {
        const problems = await problemsOf(tx, platform, push, question);
        if (problems.length > 0) return problems;
        const { cause } = push.user;
        const updates = updatesOf(question.updates);
        return await beginOperation(tx, {
          project: push.project,
          cause,
          kind: 'push',
          updates,
          data: sealOptions(platform, question.push_options),
        });
      });
      if (Array.isArray(result)) return { refuse: result };
      begun = result;
      pushOptions = question.push_options;
      timer = setInterval(
        () => void stayOperation(platform, result).catch(() => undefined),
        stillAtWork,
      ).unref();
      reached('operation.begun');
      return { refuse: null };
    },
    onTell: async ({ updates }) => {
      if (begun === null) throw new Error('a push was told that nobody asked for');
      end();
      const done = updatesOf(updates);
      if (done.length === 0) {
        await dropOperation(platform, begun);
        return { messages: [] };
      }
      await finishOperation(platform, { operation: begun, done });
      return { messages: await push.messages(done, pushOptions).catch(() => []) };
    },
  };
};
