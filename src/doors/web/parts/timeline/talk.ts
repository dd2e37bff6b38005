/** What the parts of a timeline share: its texts, the facts of its record and the rights of the viewer. */
import type { LoadedNoteable } from '../../../../planning/issuables/target.ts';
import type { Html } from '../html.ts';
import type { Texts } from './edit_conflicts.ts';
import type { Person, ShownPosition, TalkRights, Timeline } from './load_timeline.ts';

/** An event that is no note. Time in milliseconds. */
export type TimelineEvent = { at: number; part: Html };

/** A timeline and the facts of its record that its parts show. */
export type Talk = Timeline & {
  loaded: LoadedNoteable;
  texts: Texts;
  author: Person;
  /** Milliseconds. */
  created_at: number;
  rights: TalkRights & { update: boolean };
  /** Returns an address below the record's. */
  path: (below: string) => string;
  /** Heading of a timeline that has nothing but comments, and so no filters. */
  heading?: string;
  /** Query parameter of its pages; default: `page`. */
  pageParam?: string;
  /** Further events, the oldest first, such as pushes. */
  events?: readonly TimelineEvent[];
  /** Renders where a thread on a difference is. */
  positionPart?: (position: ShownPosition, noteId: number) => Html;
};
