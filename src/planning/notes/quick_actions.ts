/** Executes the quick actions of a comment and removes their lines from the text. */
import type { Call } from '../../core/access/call.ts';
import { invalid } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/endpoint.ts';
import { extractQuickActions } from '../issuables/text/quick_actions.ts';
import type { Acts, LoadedNoteable, NounActions } from '../issuables/target.ts';
import { requireCommenter } from './rules.ts';

/** The comment without its quick actions, and the changes these made; null if it has none. */
type RemainingComment = { body: string; done: Acts | null };

/**
 * Executes the quick actions of a comment before the comment is stored.
 * @throws Failure 403 if the caller may not comment, 400 if the comment has only actions and none has an effect
 */
export const runQuickActions = async <L extends LoadedNoteable>(
  noun: NounActions<L>,
  call: Call,
  loaded: L,
  input: string,
): Promise<RemainingComment> => {
  const { text, actions } = extractQuickActions(input);
  if (noun.act === undefined || actions.length === 0) return { body: input, done: null };
  requireCommenter(call, loaded);
  const done = await noun.act(call, loaded, actions);
  if (text === '' && Object.keys(done).length === 0) {
    throw invalid({ commands_only: ['Failed to apply commands.'] });
  }
  return { body: text, done };
};

/** Builds the reply to a comment that has only quick actions and is not stored. */
export const toCommandsReply = (done: Acts): Answer =>
  new Answer({ commands_changes: done, summary: [`Applied ${Object.keys(done).join(', ')}.`] });
