/** Where a list of issues or merge requests is: a project, a group, or the work of the user. */
import type { Scope } from '../../../../../planning/issuables/lists/list_kind.ts';
import type { Project } from '../../../../../projects/projects/find.ts';
import type { View } from '../../../page.ts';
import type { Html } from '../../../parts/html.ts';
import type { ListFormats } from './formats_menu.ts';

/** @param OwnScope which records of the user a list can have by default */
type ListScope<OwnScope extends string> = {
  /** Which records the list has, before its filters. */
  scope: Scope;
  /** The records of the list without the filter by project; absent: the same. */
  wholeScope?: Scope;
  /** Address of the list. */
  path: string;
  /** The project of all records of the list; null: each row names its own. */
  project: Project | null;
  /** Default relation to the user of the listed records; absent: records of all users. */
  ownScope?: OwnScope;
  /** Address of the form for a new record; null if the user may not create one here. */
  newPath: string | null;
  formats: ListFormats;
  /** Renders a page in the layout of the project or group. */
  view: (title: string, content: Html) => View;
};

export type AnyListScope = ListScope<string>;
export type IssueListScope = ListScope<'created-by-me' | 'assigned-to-me'>;
export type RequestListScope = ListScope<'reviews-for-me'> & {
  /** Default filter by reviews; absent: none. */
  ownReview?: 'waiting';
};
