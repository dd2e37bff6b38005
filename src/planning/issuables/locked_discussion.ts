import { levels } from '../../core/access/levels.ts';
import { type Viewer, getProjectLevel } from '../../core/access/viewer.ts';
import type { LoadedNoteable } from './target.ts';

/**
 * Returns whether the discussion is locked for a viewer. Members of the project and administrators may still comment.
 */
export const isLockedFor = (
  viewer: Viewer,
  { target, project }: Pick<LoadedNoteable, 'target' | 'project'>,
): boolean => target.discussion_locked && getProjectLevel(viewer, project) < levels.guest;
