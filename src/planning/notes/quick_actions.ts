/** Executes the quick actions of a comment and removes their lines from the text. */
import type { Call } from '../../core/access/call.ts';
import { invalid } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/endpoint.ts';
import { extractQuickActions } from '../issuables/text/quick_actions.ts';
import type { Acts, LoadedNoteable, NounActions } from '../issuables/target.ts';
import { requireCommenter } from './rules.ts';

/** A comment as it was sent. */
type SentComment = {
  body: string;
  /** Head of the merge request that its author saw; absent or empty: the present one. */
  head?: string | undefined;
};

/** The comment without its quick actions, and the changes these made; null if it has none. */
type RemainingComment = { body: string; done: Acts | null };

const namesOf = (done: Acts): string[] => Object.keys(done).filter((name) => name !== 'skipped');

/** Lists the operations that were skipped, with the reasons. */
const listSkipped = ({ skipped = {} }: Acts): string[] =>
  Object.entries(skipped).map(([name, reason]) => `/${name} was skipped: ${reason}`);

/** Returns the notice about skipped operations; undefined if there are none. */
export const skippedNotice = (done: Acts | null): string | undefined =>
  done?.skipped === undefined ? undefined : listSkipped(done).join(' ');

/**
 * Executes the quick actions of a comment before the comment is stored.
 * @throws Failure 403 if the caller may not comment, 400 if the comment has only actions and none has an effect
 */
export const runQuickActions = async <L extends LoadedNoteable>(
  noun: NounActions<L>,
  call: Call,
  loaded: L,
  { body, head }: SentComment,
): Promise<RemainingComment> => {
  const { text, actions } = extractQuickActions(body);
  if (noun.act === undefined || actions.length === 0) return { body, done: null };
  requireCommenter(call, loaded);
  const done = await noun.act(call, loaded, actions, head || undefined);
  if (text === '' && namesOf(done).length === 0) {
    throw invalid({ commands_only: ['Failed to apply commands.', ...listSkipped(done)] });
  }
  return { body: text, done };
};

/** Builds the reply to a comment that has only quick actions and is not stored. */
export const toCommandsReply = (done: Acts): Answer =>
  new Answer({
    commands_changes: done,
    summary: [`Applied ${namesOf(done).join(', ')}.`, ...listSkipped(done)],
  });
