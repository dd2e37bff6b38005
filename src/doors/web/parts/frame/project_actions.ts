/** The buttons of a project's header: notification level, star, fork. */
import { may } from '../../../../core/access/may.ts';
import type { NotificationLevel } from '../../../../platform/db/schema/column_types.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import {
  type ViewerRelation,
  loadViewerRelation,
} from '../../../../projects/projects/related/viewer_relation.ts';
import type { Visit } from '../../page.ts';
import { hidden } from '../form.ts';
import { type Html, html } from '../html.ts';
import { type IconName, icon } from '../icon.ts';
import { menu } from '../menu.ts';

/** The levels that a menu offers; `custom` is set over the API. */
export const notificationLevelTexts: Record<NotificationLevel, readonly [name: string, text: string]> = {
  global: ['Global', 'Your own notification setting'],
  watch: ['Watch', 'All activity'],
  participating: ['Participate', 'Threads in which you take part'],
  mention: ['On mention', 'Only when you are mentioned'],
  disabled: ['Disabled', 'No notifications'],
  custom: ['Custom', 'Selected events'],
};

const signInPath = ({ path }: Visit): string => `/users/sign_in?return_to=${encodeURIComponent(path)}`;

const levelForm = (
  visit: Visit,
  { full_path }: Project,
  level: NotificationLevel,
  chosen: NotificationLevel,
): Html => {
  const [name, text] = notificationLevelTexts[level];
  return html`<form method="post" action="/${full_path}/-/notification_setting">${hidden(
    'authenticity_token',
    visit.csrfToken(),
  )}${hidden('level', level)}<button${level === chosen && html` aria-current="true"`}>${icon(
    level === chosen ? 'check' : 'circle',
  )} <span>${name}<br><small class="muted">${text}</small></span></button></form>
`;
};

const watchPart = (visit: Visit, project: Project, { notification_level: chosen }: ViewerRelation): Html => {
  const offered = (Object.keys(notificationLevelTexts) as NotificationLevel[]).filter(
    (level) => level !== 'custom' || chosen === 'custom',
  );
  const name = chosen === 'global' ? 'Watch' : notificationLevelTexts[chosen][0];
  const summary = html`${icon('bell')} <span>${name}</span> ${icon('chevron-down')}`;
  return menu(
    { summary, classes: 'button small' },
    html`<h2>Notification level</h2>${offered.map((level) => levelForm(visit, project, level, chosen))}`,
  );
};

type Counted = { count: number; path: string; label: string };

/** Renders a button with a link to the list that it counts. */
const counted = (button: Html, { count, path, label }: Counted): Html =>
  html`<div class="split">${button}<a class="button small" href="${path}" aria-label="${count} ${label}">${count}</a></div>`;

const linkButton = (path: string, image: IconName, text: string): Html =>
  html`<a class="button small" href="${path}">${icon(image)} ${text}</a>`;

const starPart = (visit: Visit, { full_path, star_count: count }: Project, isStarred: boolean): Html => {
  const [word, text] = isStarred ? ['unstar', 'Unstar'] : ['star', 'Star'];
  const button = visit.call.signedIn
    ? html`<form method="post" action="/${full_path}/-/${word}">${hidden(
        'authenticity_token',
        visit.csrfToken(),
      )}<button class="small${isStarred && ' starred'}">${icon('star')} ${text}</button></form>`
    : linkButton(signInPath(visit), 'star', 'Star');
  return counted(button, {
    count,
    path: `/${full_path}/-/starrers`,
    label: count === 1 ? 'user starred this project' : 'users starred this project',
  });
};

const forkPart = (visit: Visit, project: Project, count: number): Html => {
  const { full_path } = project;
  const mayFork = may(visit.call.viewer, 'fork_project', project);
  const button = mayFork
    ? linkButton(`/${full_path}/-/forks/new`, 'fork', 'Fork')
    : html`<span class="button small" aria-disabled="true">${icon('fork')} Forks</span>`;
  return counted(button, { count, path: `/${full_path}/-/forks`, label: count === 1 ? 'fork' : 'forks' });
};

/** Renders the buttons. Anonymous visitors are sent to sign in. */
export const projectActions = async (visit: Visit, project: Project): Promise<Html> => {
  const relation = await loadViewerRelation(visit.call, project);
  return html`<div class="buttons">${visit.call.signedIn && watchPart(visit, project, relation)}
${starPart(visit, project, relation.isStarred)}
${forkPart(visit, project, relation.forks_count)}</div>`;
};
