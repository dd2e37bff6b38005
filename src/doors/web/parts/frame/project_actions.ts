/** The buttons of a project's header: notification level, star, fork. */
import { may } from '../../../../core/access/may.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import {
  type ViewerRelation,
  maxCountedWatchers,
} from '../../../../projects/projects/related/viewer_relation.ts';
import type { Visit } from '../../page.ts';
import { hidden } from '../form.ts';
import { type Html, html } from '../html.ts';
import { type IconName, icon } from '../icon.ts';
import { notificationMenu } from '../notification_menu.ts';

const signInPath = ({ path }: Visit): string => `/users/sign_in?return_to=${encodeURIComponent(path)}`;

type Counted = { count: number; path: string; label: string };

/** Renders a button with a link to the list that it counts. */
const counted = (button: Html, { count, path, label }: Counted): Html =>
  html`<div class="split">${button}<a class="button small" href="${path}" aria-label="${count} ${label}">${count}</a></div>`;

const linkButton = (path: string, image: IconName, text: Html | string): Html =>
  html`<a class="button small" href="${path}">${icon(image)} ${text}</a>`;

const watcherCount = (count: number): Html => {
  const isMore = count > maxCountedWatchers;
  const text = isMore ? `${maxCountedWatchers.toLocaleString('en')}+` : String(count);
  const users = count === 1 ? 'user watches' : 'users watch';
  return html`<span class="count">${text}<span class="visually-hidden"> ${users} this project</span></span> `;
};

const watchPart = (visit: Visit, { full_path }: Project, relation: ViewerRelation): Html => {
  const count = watcherCount(relation.watchers_count);
  if (!visit.call.signedIn) return linkButton(signInPath(visit), 'bell', html`Watch ${count}`);
  return notificationMenu(visit, {
    action: `/${full_path}/-/notification_setting`,
    chosen: relation.notification_level,
    count,
    returnTo: visit.returnPath,
  });
};

const starPart = (visit: Visit, { full_path, star_count: count }: Project, isStarred: boolean): Html => {
  const [word, text] = isStarred ? ['unstar', 'Unstar'] : ['star', 'Star'];
  const button = visit.call.signedIn
    ? html`<form method="post" action="/${full_path}/-/${word}">${hidden(
        'authenticity_token',
        visit.csrfToken(),
      )}${visit.returnPath !== null && hidden('return_to', visit.returnPath)}<button class="small${isStarred && ' starred'}">${icon('star')} ${text}</button></form>`
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
export const projectActions = (visit: Visit, project: Project, relation: ViewerRelation): Html =>
  html`<div class="buttons">${watchPart(visit, project, relation)}
${starPart(visit, project, relation.isStarred)}
${forkPart(visit, project, relation.forks_count)}</div>`;
