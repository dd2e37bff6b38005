/** Data shared by the parts of a timeline: its texts, the data of its record and the rights of the viewer. */
import type { LoadedNoteable } from '../../../../planning/issuables/target.ts';
import type { Html } from '../html.ts';
import type { Texts } from './edit_conflicts.ts';
import type { Person, ShownPosition, TimelineRights, Timeline } from './load_timeline.ts';

/** A timeline entry other than a comment, such as a push. */
export type TimelineEvent = {
  /** Milliseconds. */
  at: number;
  part: Html;
};

/** A timeline and the data of its record that its parts show. */
export type TimelineContext = Timeline & {
  loaded: LoadedNoteable;
  texts: Texts;
  author: Person;
  /** Milliseconds. */
  created_at: number;
  rights: TimelineRights & { update: boolean };
  /** Head of the merge request that the page shows, which quick actions of its comments act on. */
  seenHead?: string | null;
  /** Builds a URL below the record's URL. */
  path: (below: string) => string;
  /** Heading of a timeline that has nothing but comments, and so no filters. */
  heading?: string;
  /** Query parameter of its pages; default: `page`. */
  pageParam?: string;
  /** Further events, the oldest first, such as pushes. */
  events?: readonly TimelineEvent[];
  /** Renders the file and line that a diff thread refers to. */
  positionPart?: (position: ShownPosition, noteId: number) => Html;
  /** Renders the changes that a comment proposes. */
  suggestionsPart?: (noteId: number) => Html | null;
  /** Renders a further action of an unresolved thread. */
  threadLink?: (threadId: string) => Html;
};
