/** The context that cards and forms of the Changes tab share. */
import type { Visit } from '../../../page.ts';
import { hidden } from '../../../parts/form.ts';
import type { Html } from '../../../parts/html.ts';
import type { Changes } from './load_changes.ts';
import { changesPath, choiceOf } from './changes_address.ts';
import type { DiffThreads } from './load_threads.ts';

/** The input of a refused form. */
export type KeptText = { typed: string } & (
  | { discussion_id: string; resolves: boolean }
  | { draft_id: number }
);

/** The context that the cards of a page share. */
export type Cards = {
  visit: Visit;
  changes: Changes;
  rights: Pick<DiffThreads, 'mayComment' | 'mayResolve' | 'mayAward'>;
  /** The viewer has drafts: further comments join them. */
  isReviewing: boolean;
  /** A reply, or the text of a draft, that was not accepted. */
  kept?: KeptText | undefined;
};

/** Returns the address of a form of the tab. */
export const formPath = ({ changes }: Pick<Cards, 'changes'>, below: string): string =>
  changesPath(changes.loaded, choiceOf(changes.query), below);

/** Returns the address of the part of the tab that is shown, at a comment of it. */
export const notePath = ({ changes }: Pick<Cards, 'changes'>, noteId: number): string => {
  const { page, file } = changes.query;
  return `${changesPath(changes.loaded, { ...choiceOf(changes.query), page, file })}#note_${noteId}`;
};

export const token = ({ visit }: Pick<Cards, 'visit'>): Html =>
  hidden('authenticity_token', visit.csrfToken());

/** The head of the merge request when the page was rendered, which quick actions of its comments act on. */
export const seenHead = ({ changes }: Pick<Cards, 'changes'>): Html =>
  hidden('seen_head', changes.loaded.merge_request.head_sha ?? '');
