/** Where a list of merge requests is: a project or a group. */
import type { Scope } from '../../../../planning/issuables/lists/list.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { View } from '../../page.ts';
import type { Html } from '../../parts/html.ts';

export type RequestListScope = {
  /** Which merge requests the list has, before its filters. */
  scope: Scope;
  /** Address of the list. */
  path: string;
  /** The project of all merge requests of the list; null: each row names its own. */
  project: Project | null;
  /** Address of the form for a new one; null: the user may not create one here. */
  newPath: string | null;
  /** Address of the list as CSV; null or absent: none. */
  exportPath?: string | null;
  /** Address of the list as an Atom feed; null or absent: none. */
  feedPath?: string | null;
  /** Renders a page in the layout of the project or group. */
  view: (title: string, content: Html) => View;
};
