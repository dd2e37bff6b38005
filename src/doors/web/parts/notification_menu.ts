/** The menu that sets the notification level of a project or a group. */
import type { NotificationLevel } from '../../../platform/db/schema/column_types.ts';
import type { Visit } from '../page.ts';
import { hidden } from './form.ts';
import { type Html, html } from './html.ts';
import { icon } from './icon.ts';
import { menu } from './menu.ts';

/** The levels that a menu offers; `custom` is set over the API. */
export const notificationLevelTexts: Record<NotificationLevel, readonly [name: string, text: string]> = {
  global: ['Global', 'Your own notification setting'],
  watch: ['Watch', 'All activity'],
  participating: ['Participate', 'Threads in which you take part'],
  mention: ['On mention', 'Only when you are mentioned'],
  disabled: ['Disabled', 'No notifications'],
  custom: ['Custom', 'Selected events'],
};

type NotificationMenuOptions = {
  /** Address that the form of each level is sent to. */
  action: string;
  chosen: NotificationLevel;
  /** Shown in the button after the level. */
  count?: Html;
  /** Among buttons of the usual size. */
  isLarge?: boolean;
  /** Path that the forms redirect to; null: the project or group. */
  returnTo?: string | null;
};

const levelForm = (
  visit: Visit,
  { action, chosen, returnTo = null }: NotificationMenuOptions,
  level: NotificationLevel,
): Html => {
  const [name, text] = notificationLevelTexts[level];
  return html`<form method="post" action="${action}">${hidden(
    'authenticity_token',
    visit.csrfToken(),
  )}${hidden('level', level)}${returnTo !== null && hidden('return_to', returnTo)}<button${level === chosen && html` aria-current="true"`}>${icon(
    level === chosen ? 'check' : 'circle',
  )} <span>${name}<br><small class="muted">${text}</small></span></button></form>
`;
};

export const notificationMenu = (visit: Visit, options: NotificationMenuOptions): Html => {
  const { chosen, isLarge = false } = options;
  const offered = (Object.keys(notificationLevelTexts) as NotificationLevel[]).filter(
    (level) => level !== 'custom' || chosen === 'custom',
  );
  const name = chosen === 'global' ? 'Watch' : notificationLevelTexts[chosen][0];
  const summary = html`${icon('bell')} <span>${name}</span> ${options.count}${icon('chevron-down')}`;
  return menu(
    { summary, classes: isLarge ? 'button' : 'button small' },
    html`<h2>Notification level</h2>${offered.map((level) => levelForm(visit, options, level))}`,
  );
};
