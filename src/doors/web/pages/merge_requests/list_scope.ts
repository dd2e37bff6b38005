/** Where a list of merge requests is: a project, a group, or the work of the user. */
import type { Scope } from '../../../../planning/issuables/lists/list_kind.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { View } from '../../page.ts';
import type { ListFormats } from '../issuables/list/formats_menu.ts';
import type { Html } from '../../parts/html.ts';

export type RequestListScope = {
  /** Which merge requests the list has, before its filters. */
  scope: Scope;
  /** Address of the list. */
  path: string;
  /** The project of all merge requests of the list; null: each row names its own. */
  project: Project | null;
  /** Which merge requests of the user the list has by default; absent: those of all users. */
  ownScope?: 'reviews-for-me';
  /** Address of the form for a new one; null: the user may not create one here. */
  newPath: string | null;
  formats: ListFormats;
  /** Renders a page in the layout of the project or group. */
  view: (title: string, content: Html) => View;
};
