/** The column beside an issue: its properties, each with a form for those who may change it. */
import { today } from '../../../../../core/access/viewer.ts';
import { timeStats } from '../../../../../planning/time_tracking/json.ts';
import type { Visit } from '../../../page.ts';
import { dayPart } from '../../../parts/times/day.ts';
import { button } from '../../../parts/frame/project_view.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { label } from '../../../parts/label.ts';
import { person } from '../../../parts/person.ts';
import { avatar } from '../../../parts/avatar.ts';
import { issuePath, issuesPath } from '../find.ts';
import type { Closer, IssuePage } from './load.ts';
import type { Choices } from './choices.ts';
import { assigneesForm, dueForm, labelsForm, milestoneForm, timeForm } from './side_forms.ts';

const section = (title: string, content: Html, edit: Html | null | false = null): Html =>
  html`<section><h2>${title}</h2>${edit && html`<details class="edit"><summary>Edit<span class="visually-hidden"> ${title.toLowerCase()}</span></summary>${edit}</details>`}<div class="value">${content}</div></section>`;

const none = html`<span class="muted">None</span>`;

const assigneesPart = (visit: Visit, shown: IssuePage, choices: Choices | null): Html => {
  const { assignees } = shown.loaded.issue;
  return section(
    assignees.length === 1 ? 'Assignee' : 'Assignees',
    assignees.length === 0 ? none : html`${assignees.map((user) => html`<div>${person(user)}</div>`)}`,
    choices !== null && assigneesForm(visit, shown, choices),
  );
};

const labelsPart = (visit: Visit, shown: IssuePage, choices: Choices | null): Html => {
  const list = issuesPath(shown.loaded.project);
  const href = (name: string): string => `${list}?${new URLSearchParams({ labels: name }).toString()}`;
  return section(
    'Labels',
    shown.labels.length === 0
      ? none
      : html`${shown.labels.map((one) => html`${label(one, href(one.name))} `)}`,
    choices !== null && labelsForm(visit, shown, choices),
  );
};

const milestonePart = (visit: Visit, shown: IssuePage, choices: Choices | null): Html => {
  const { milestone } = shown.loaded.issue;
  const list = issuesPath(shown.loaded.project);
  return section(
    'Milestone',
    milestone === null
      ? none
      : html`<a href="${list}?${new URLSearchParams({ milestone: milestone.title }).toString()}">${milestone.title}</a>`,
    choices !== null && milestoneForm(visit, shown, choices),
  );
};

const duePart = (visit: Visit, shown: IssuePage): Html => {
  const { due_date, state } = shown.loaded.issue;
  const day = today(visit.call.now);
  const isLate = due_date !== null && state === 'opened' && due_date < day;
  const date = due_date !== null && dayPart(due_date, day);
  return section(
    'Due',
    due_date === null
      ? none
      : isLate
        ? html`<span class="status bad">${icon('clock')}<span>${date}, overdue</span></span>`
        : html`${date}`,
    shown.rights.admin && dueForm(visit, shown),
  );
};

const timePart = (visit: Visit, shown: IssuePage): Html => {
  const { human_time_estimate: estimate, human_total_time_spent: spent } = timeStats(shown.loaded.target);
  const text =
    estimate === null && spent === null
      ? none
      : html`${spent ?? '0h'} spent${estimate !== null && ` of ${estimate}`}`;
  return section('Time', text, shown.rights.update && timeForm(visit, shown));
};

const closerWords: Record<string, string> = { opened: 'open', merged: 'merged', closed: 'closed' };

const closersPart = (visit: Visit, { closers, loaded }: IssuePage): Html | null => {
  if (closers.length === 0) return null;
  const hasPage = visit.call.platform.hasPage('GET /-/projects/:project/merge_requests/:iid');
  const line = ({ iid, title, state }: Closer): Html => {
    const text = `!${iid} ${title}`;
    const path = `/${loaded.project.full_path}/merge_requests/${iid}`;
    return html`<div>${icon('merge-request')} ${hasPage ? html`<a href="${path}">${text}</a>` : text} <span class="muted">${closerWords[state] ?? state}</span></div>`;
  };
  return section('Closed by', html`${closers.map(line)}`);
};

const confidentialPart = (visit: Visit, { loaded, rights }: IssuePage): Html => {
  const isConfidential = loaded.issue.confidential === 1;
  const change = rights.update && switchForm(visit, loaded, 'confidential', isConfidential);
  return section(
    'Confidentiality',
    html`${isConfidential ? html`<span class="status wait">${icon('lock')} Confidential</span>` : 'Everybody who sees the project'}${change}`,
  );
};

const switchWords = {
  confidential: ['Make confidential', 'Make visible to everyone'],
  discussion_locked: ['Lock discussion', 'Unlock discussion'],
} as const;

const switchForm = (
  visit: Visit,
  loaded: IssuePage['loaded'],
  name: keyof typeof switchWords,
  isOn: boolean,
): Html => {
  const [on, off] = switchWords[name];
  return button(visit, issuePath(loaded, `?${name}=${isOn ? 0 : 1}`), { label: isOn ? off : on });
};

const lockPart = (visit: Visit, { loaded, rights }: IssuePage): Html | null => {
  const isLocked = loaded.issue.discussion_locked === 1;
  if (!isLocked && !rights.admin) return null;
  return section(
    'Discussion',
    html`${isLocked ? html`<span class="status wait">${icon('lock')} Locked</span>` : 'Open'}${rights.admin && switchForm(visit, loaded, 'discussion_locked', isLocked)}`,
  );
};

const followPart = (visit: Visit, { loaded, own }: IssuePage): Html | null => {
  if (own === null) return null;
  const { isSubscribed, hasTodo } = own;
  const follow = button(visit, issuePath(loaded, isSubscribed ? '/unsubscribe' : '/subscribe'), {
    label: isSubscribed ? 'Unsubscribe' : 'Subscribe',
  });
  const todo = button(visit, issuePath(loaded, hasTodo ? '/todo/done' : '/todo'), {
    label: hasTodo ? 'Mark to-do item as done' : 'Add a to-do item',
  });
  return section('Notifications', html`<div class="row">${follow}${todo}</div>`);
};

const participantsPart = ({ participants: { items, total } }: IssuePage): Html =>
  section(
    `${total} ${total === 1 ? 'participant' : 'participants'}`,
    html`<div class="row people">${items.map(
      ({ name, username, avatar_url }) =>
        html`<a href="/${username}" title="${name}">${avatar({ name, avatar_url })}<span class="visually-hidden">${name}</span></a>`,
    )}${total > items.length && html`<span class="muted">and ${total - items.length} more</span>`}</div>`,
  );

/** @param choices null: the viewer may not change them */
export const sidePart = (visit: Visit, shown: IssuePage, choices: Choices | null): Html => {
  const { loaded } = shown;
  const reference = `${loaded.project.full_path}#${loaded.target.iid}`;
  return html`<aside class="aside" aria-label="Properties">${assigneesPart(visit, shown, choices)}${labelsPart(visit, shown, choices)}${milestonePart(
    visit,
    shown,
    choices,
  )}${duePart(visit, shown)}${timePart(visit, shown)}${closersPart(visit, shown)}${confidentialPart(visit, shown)}${lockPart(
    visit,
    shown,
  )}${followPart(visit, shown)}${participantsPart(shown)}${section(
    'Reference',
    html`<div class="row"><code>${reference}</code><button type="button" class="small" data-copy="${reference}" hidden aria-label="Copy the reference">${icon('copy')}</button></div>`,
  )}</aside>`;
};
