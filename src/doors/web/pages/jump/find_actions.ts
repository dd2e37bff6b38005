/** Finds what the palette changes without a page of its own: star, notification level, color scheme, sign out. */
import type { NotificationLevel } from '../../../../platform/db/schema/column_types.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { loadViewerRelation } from '../../../../projects/projects/related/viewer_relation.ts';
import type { Visit } from '../../page.ts';
import { groupPagePath } from '../../parts/frame/group_layout.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import { notificationLevelTexts } from '../../parts/notification_menu.ts';
import { schemeNames, schemes } from '../../request/preferences.ts';
import { hasWords } from './find_pages.ts';
import type { ActionMatch, MatchGroup } from './find_records.ts';
import { type OpenPlace, placePath } from './open_place.ts';

const maxMatches = 8;

/** Path that the form redirects to: the script of the palette replaces it by the path of its page. */
const returnTo = (place: OpenPlace): Record<string, string> => ({ return_to: placePath(place) ?? '/' });

const signOut: ActionMatch = {
  action: '/users/sign_out',
  fields: {},
  text: 'Sign out',
  icon: 'sign-out',
};

const schemeActions = ({ preferences }: Visit, place: OpenPlace): ActionMatch[] =>
  schemes
    .filter((scheme) => scheme !== preferences.scheme)
    .map((scheme) => ({
      action: '/-/preferences',
      fields: { scheme, ...returnTo(place) },
      text: `Color scheme: ${schemeNames[scheme]}`,
      icon: 'eye',
    }));

const levelActions = (place: OpenPlace): ActionMatch[] => {
  const { project, group } = place;
  if (project === null && group === null) return [];
  const noun = 'notification_setting';
  const action =
    group === null ? projectPagePath(project ?? { full_path: '' }, noun) : groupPagePath(group, noun);
  const levels = (Object.keys(notificationLevelTexts) as NotificationLevel[]).filter(
    (level) => level !== 'custom',
  );
  return levels.map((level) => ({
    action,
    fields: { level, ...returnTo(place) },
    text: `Notification level: ${notificationLevelTexts[level][0]}`,
    icon: 'bell',
    hint: (project ?? group)?.full_path ?? '',
  }));
};

const starTexts = { star: 'Star project', unstar: 'Unstar project' } as const;

/** Loads whether the project is starred only where a text matches. */
const starActions = async (visit: Visit, project: Project | null, search: string): Promise<ActionMatch[]> => {
  if (project === null || !Object.values(starTexts).some((text) => hasWords(text, search))) return [];
  const { isStarred } = await loadViewerRelation(visit.call, project);
  const word = isStarred ? 'unstar' : 'star';
  return [
    {
      action: projectPagePath(project, word),
      fields: { return_to: `/${project.full_path}` },
      text: starTexts[word],
      icon: 'star',
      hint: project.full_path,
    },
  ];
};

/** Finds actions by words of their names. Without a search, there are none. */
export const findActions = async (
  visit: Visit,
  place: OpenPlace,
  search: string,
): Promise<MatchGroup<ActionMatch>> => {
  const title = 'Actions';
  if (search === '') return { title, matches: [] };
  const own = visit.call.signedIn
    ? [...(await starActions(visit, place.project, search)), ...levelActions(place)]
    : [];
  const all = [...own, ...schemeActions(visit, place), ...(visit.call.signedIn ? [signOut] : [])];
  return { title, matches: all.filter(({ text }) => hasWords(text, search)).slice(0, maxMatches) };
};
