/** The lists of projects and groups of a user, each with its notification level. */
import { requireUser } from '../../../../core/access/call.ts';
import { listGroups } from '../../../../identity/groups/list.ts';
import type { NotificationLevel } from '../../../../platform/db/schema/column_types.ts';
import type { PageRequest } from '../../../../platform/http/page.ts';
import { listProjects } from '../../../../projects/projects/lists/list.ts';
import type { Visit } from '../../page.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { form, select } from '../../parts/form.ts';
import { tabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { notificationLevelTexts } from '../../parts/notification_menu.ts';
import { type Html, html } from '../../parts/html.ts';
import { pagesNav } from '../../parts/paging.ts';
import { type ListedProject, projectPathParts } from '../../parts/projects/project_list.ts';

export const notificationsPath = '/profile/notifications';

export const levels = ['global', 'watch', 'participating', 'mention', 'disabled', 'custom'] as const;

export type LeveledKind = 'projects' | 'groups';

type Place = { id: number; fullPath: string; address: string };

const columns = { projects: 'project_id', groups: 'group_id' } as const;

/** Loads the user's levels by id of the project or group. */
const loadLevels = async (
  { call }: Visit,
  of: LeveledKind,
  ids: readonly number[],
): Promise<Map<number | null, NotificationLevel>> => {
  if (ids.length === 0) return new Map();
  const column = columns[of];
  const rows = await call.db
    .selectFrom('notification_settings')
    .select([column, 'level'])
    .where('user_id', '=', requireUser(call).id)
    .where(columns[of === 'projects' ? 'groups' : 'projects'], 'is', null)
    .where(column, 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row[column] ?? null, row.level]));
};

const listPlaces = async (
  { call }: Visit,
  of: LeveledKind,
  at: PageRequest,
): Promise<{ places: Place[]; total: number }> => {
  const order = { order_by: 'path' as const, sort: 'asc' as const, ...at };
  if (of === 'groups') {
    const { items, total } = await listGroups(call, { ...order, all_available: false });
    const places = items.map(({ id, full_path }) => ({
      id,
      fullPath: full_path,
      address: `/groups/${full_path}`,
    }));
    return { places, total };
  }
  const { items, total } = await listProjects(call, { ...order, membership: true });
  const places = (items as ListedProject[]).map(({ id, path_with_namespace }) => ({
    id,
    fullPath: path_with_namespace,
    address: `/${path_with_namespace}`,
  }));
  return { places, total };
};

const placeItem = (
  visit: Visit,
  of: LeveledKind,
  { id, fullPath, address }: Place,
  level: NotificationLevel,
): Html => html`<li><span class="row tight"><a class="title" href="${address}">${
  fullPath.includes('/') ? projectPathParts(fullPath) : fullPath
}</a></span>
<span class="side">${form(
  visit,
  {
    action: `${notificationsPath}/${of}/${id}`,
    submit: 'Save',
    name: `Save the level of ${fullPath}`,
    isQuiet: true,
  },
  select({
    name: 'level',
    id: `level_${id}`,
    label: 'Level',
    value: level,
    options: levels.map((one) => [one, notificationLevelTexts[one][0]] as const),
  }),
)}</span></li>
`;

/** Renders the projects or the groups that the user belongs to. */
export const levelList = async (visit: Visit, of: LeveledKind, at: PageRequest): Promise<Html> => {
  const { places, total } = await listPlaces(visit, of, at);
  const chosen = await loadLevels(
    visit,
    of,
    places.map(({ id }) => id),
  );
  const list =
    places.length === 0
      ? emptyState({
          icon: of === 'projects' ? 'folder' : 'group',
          title: `You are not a member of any ${of === 'projects' ? 'project' : 'group'}.`,
        })
      : html`<ul class="list">${places.map((place) => placeItem(visit, of, place, chosen.get(place.id) ?? 'global'))}</ul>`;
  const path = notificationsPath;
  const query = { of: of === 'groups' ? of : undefined };
  return html`<h2 id="places">Projects and groups</h2>
${tabs('Places', [
  { path, name: 'Projects', isHere: of === 'projects' },
  { path: `${path}?of=groups`, name: 'Groups', isHere: of === 'groups' },
])}
<section class="card" aria-labelledby="places">${list}</section>
${pagesNav({ path, query, page: at, total })}`;
};
