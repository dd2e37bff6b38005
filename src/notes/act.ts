/** Quick actions in a comment: lines that do something, and are no part of it. */
import type { Call } from '../access/call.ts';
import { invalid } from '../errors.ts';
import { Answer } from '../http/endpoint.ts';
import { extractQuickActions } from '../issuables/quick_actions.ts';
import type { Acts, Found, Noun } from '../issuables/target.ts';
import { requireCommenter } from './rules.ts';

/** The comment without its quick actions, and what these did; null: there are none in it. */
type ActedOn = { body: string; done: Acts | null };

/**
 * Does what the quick actions in a comment ask for, before it is kept.
 * @throws Failure 403 for one who may not comment, 400 where it is nothing but actions and nothing comes of them
 */
export const actOn = async (noun: Noun, call: Call, found: Found, given: string): Promise<ActedOn> => {
  const { text, actions } = extractQuickActions(given);
  if (noun.act === undefined || actions.length === 0) return { body: given, done: null };
  requireCommenter(call, found);
  const done = await noun.act(call, found, actions);
  if (text === '' && Object.keys(done).length === 0) {
    throw invalid({ commands_only: ['Failed to apply commands.'] });
  }
  return { body: text, done };
};

/** The answer to a comment of nothing but actions, of which nothing is kept. */
export const onlyActed = (done: Acts): Answer =>
  new Answer({ commands_changes: done, summary: [`Applied ${Object.keys(done).join(', ')}.`] });
