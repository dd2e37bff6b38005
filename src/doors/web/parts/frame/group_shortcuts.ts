/** Keyboard shortcuts of every page of a group, as links that the client script follows. */
import type { Group } from '../../../../identity/groups/find.ts';
import type { Visit } from '../../page.ts';
import type { GroupNoun } from '../../project_and_group_pages.ts';
import { type Html, html } from '../html.ts';

/** The keys of the pages of a project, for the same pages of a group. Null: the group itself. */
const shortcuts = [
  { keys: 'g p', name: 'Go to the group', noun: null },
  { keys: 'g v', name: 'Go to the activity', noun: 'activity' },
  { keys: 'g i', name: 'Go to the issues', noun: 'issues' },
  { keys: 'g b', name: 'Go to the boards', noun: 'boards' },
  { keys: 'g m', name: 'Go to the merge requests', noun: 'merge_requests' },
] as const;

/** Renders the links, which are hidden: only the script uses them. @param allowed the pages that the viewer may open */
export const groupShortcuts = (
  { preferences }: Visit,
  { full_path }: Pick<Group, 'full_path'>,
  allowed: readonly GroupNoun[],
): Html | null => {
  if (!preferences.hasShortcuts) return null;
  const shown = shortcuts.filter(({ noun }) => noun === null || allowed.some((one) => one.noun === noun));
  return html`<div hidden>${shown.map(
    ({ keys, name, noun }) =>
      html`<a href="/groups/${full_path}${noun === null ? '' : `/-/${noun}`}" data-key="${keys}">${name}</a>`,
  )}</div>`;
};
