/** Authorizes a push that git has received, and completes it once its refs have moved. */
import type { Platform } from '../../../core/platform.ts';
import { loadActingViewer } from '../../../core/access/background_actor.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { publishReached } from '../../../platform/git/durability_points.ts';
import type {
  PushAnswer,
  PushNoticeAnswer,
  PushQuestion,
  RefUpdate,
  PushNotice,
} from '../../../platform/git/protocol_types.ts';
import type { RepositoryLocation } from '../../../platform/git/repository.ts';
import { loadProject } from '../../../projects/projects/find.ts';
import { ReadOnlyFailure, holdRepository } from '../moves/hold_repository.ts';
import { readDefaultHead } from './default_head.ts';
import {
  beginOperation,
  dropOperation,
  finishOperation,
  renewOperation,
  writeBeginning,
} from './operations.ts';
import type { Operation } from './operation_types.ts';
import { sealOptions } from './ci_push_options.ts';
import { loadProtectedBranches, loadProtectedTags } from '../protection/rules.ts';
import { fileProblem, pushProblems, sizeProblem } from './push_policy.ts';
import { type GitUser, getQuota, refusalTexts, transferProblem } from './transfer_access.ts';

export type Push = {
  project: RepositoryLocation;
  user: GitUser;
  /** Returns messages to the pusher about the updates that were made. */
  messages: (updates: readonly RefUpdate[], pushOptions: readonly string[]) => Promise<string[]>;
};

/** Handlers for the messages of a `transport.receive_pack` stream. */
export type PushHandlers = {
  onAsk: (question: PushQuestion) => Promise<PushAnswer>;
  onNotify: (news: PushNotice) => Promise<PushNoticeAnswer>;
  /** Whether the push is authorized. From then on refs may move, so the push must not be aborted. */
  isBegun: () => boolean;
  /** Must be called when the stream ends, successfully or not. */
  end: () => void;
};

/** Milliseconds between renewals of the operation: a push of many refs can take long. */
const renewInterval = 20_000;

const reloadKey = async (
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

/** Reloads the pusher and their rights, which may have changed during a long push. */
const reloadUser = async (db: Reader, push: Push, now: number): Promise<GitUser | null> => {
  const { user, project } = push;
  if (user.deployKey !== null) return await reloadKey(db, { ...user, deployKey: user.deployKey }, project.id);
  if (user.cause === null) return user;
  const viewer = await loadActingViewer(db, user.cause.user.id, now);
  return viewer === null ? null : { ...user, viewer };
};

const findProblems = async (
  tx: Tx,
  { config }: Platform,
  push: Push,
  { updates, largest_file, repository_size }: PushQuestion,
): Promise<string[]> => {
  const project = await loadProject(tx.db, push.project.id);
  const user = await reloadUser(tx.db, push, tx.now);
  if (project === null || user === null) return [refusalTexts.missing];
  const forbidden = transferProblem(user, project, 'git-receive-pack');
  if (forbidden !== null) return [forbidden];
  const quota = getQuota(config);
  const tooLarge =
    fileProblem(largest_file, quota.file_bytes) ?? sizeProblem(repository_size, quota.repository_bytes);
  if (tooLarge !== null) return [tooLarge];
  const rules = {
    branches: await loadProtectedBranches(tx.db, project.id),
    tags: await loadProtectedTags(tx.db, project.id),
  };
  return pushProblems({ user, project, rules }, updates);
};

const toRefUpdates = (updates: readonly RefUpdate[]): RefUpdate[] =>
  updates.map((update) => ({ ref: update.ref, old: update.old, new: update.new }));

/**
 * Returns the handlers of one push. An accepted push is recorded as an operation first (`operations.ts`), so that
 * recovery can determine the outcome if this process dies.
 */
export const createPushHandlers = (platform: Platform, push: Push): PushHandlers => {
  const { store } = platform;
  let operation: Operation | null = null;
  let pushOptions: readonly string[] = [];
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => clearInterval(timer);
  return {
    isBegun: () => operation !== null,
    end,
    onAsk: async (question) => {
      const updates = toRefUpdates(question.updates);
      const defaultHead = await readDefaultHead(platform, push.project, updates);
      const begun = writeBeginning<Operation | string[]>(store, async (tx) => {
        await holdRepository(tx, push.project);
        const problems = await findProblems(tx, platform, push, question);
        if (problems.length > 0) return problems;
        const { cause } = push.user;
        return await beginOperation(tx, {
          project: push.project,
          cause,
          kind: 'push',
          updates,
          data: { ...sealOptions(platform, question.push_options), ...defaultHead },
        });
      });
      const result = await begun.catch((error: unknown) => {
        if (!(error instanceof ReadOnlyFailure)) throw error;
        return [error.text];
      });
      if (Array.isArray(result)) return { refuse: result };
      operation = result;
      pushOptions = question.push_options;
      timer = setInterval(
        () => void renewOperation(platform, result).catch(() => undefined),
        renewInterval,
      ).unref();
      publishReached('operation.begun');
      return { refuse: null };
    },
    onNotify: async ({ updates }) => {
      if (operation === null) throw new Error('git reported a push that was never authorized');
      end();
      const done = toRefUpdates(updates);
      if (done.length === 0) {
        await dropOperation(platform, operation);
        return { messages: [] };
      }
      await finishOperation(platform, { operation: operation, done });
      return { messages: await push.messages(done, pushOptions).catch(() => []) };
    },
  };
};
