/** Renders the properties that issues and merge requests share, for the column next to them. */
import type { LinkedLabel } from '../../../../planning/issuables/lists/linked_labels.ts';
import { isSubscribed as loadSubscribed } from '../../../../planning/subscriptions/subscriptions.ts';
import type { Target } from '../../../../planning/issuables/target.ts';
import { findPendingTodo } from '../../../../planning/todos/queries.ts';
import type { Page } from '../../../../platform/http/page.ts';
import type { Visit } from '../../page.ts';
import { avatar } from '../avatar.ts';
import { button } from '../frame/project_layout.ts';
import { type Html, html } from '../html.ts';
import { icon } from '../icon.ts';
import { label } from '../label.ts';
import { type MilestoneLinks, milestoneHref } from './milestone_link.ts';
import { userLink } from '../user_link.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

type Person = { name: string; username: string; avatar_url?: string | null };

/** Shortcuts that open the form of a section, by its title. */
const keys: Readonly<Record<string, string>> = {
  Assignee: 'a',
  Assignees: 'a',
  Labels: 'l',
  Milestone: 'm',
};

const keyPart = (title: string): Html | false => {
  const key = keys[title];
  return key !== undefined && html` data-key="${key}" data-key-name="Edit ${title.toLowerCase()}"`;
};

/** @param edit form that changes the value */
export const section = (title: string, content: Html, edit: Html | null | false = null): Html =>
  html`<section><h2>${title}</h2>${edit && html`<details class="edit"><summary${keyPart(title)}>Edit<span class="visually-hidden"> ${title.toLowerCase()}</span></summary>${edit}</details>`}<div class="value">${content}</div></section>`;

export const none = html`<span class="muted">None</span>`;

/** @param addMe form that assigns the viewer */
export const assigneesSection = (
  assignees: readonly Person[],
  edit: Html | false,
  addMe: Html | null = null,
): Html =>
  section(
    assignees.length === 1 ? 'Assignee' : 'Assignees',
    html`${assignees.length === 0 ? none : assignees.map((user) => html`<div>${userLink(user)}</div>`)}${addMe}`,
    edit,
  );

/** @param list address of the list that the labels filter */
export const labelsSection = (labels: readonly LinkedLabel[], list: string, edit: Html | false): Html => {
  const href = (name: string): string => `${list}?${new URLSearchParams({ labels: name }).toString()}`;
  return section(
    'Labels',
    labels.length === 0 ? none : html`${labels.map((one) => html`${label(one, href(one.name))} `)}`,
    edit,
  );
};

type Milestone = { title: string; iid: number; owner_path: string };

export const milestoneSection = (
  milestone: Milestone | null,
  links: MilestoneLinks,
  edit: Html | false,
): Html => {
  if (milestone === null) return section('Milestone', none, edit);
  const { title, iid, owner_path } = milestone;
  const href = milestoneHref({ title, path: `/${owner_path}/-/milestones/${iid}` }, links);
  return section('Milestone', html`<a href="${href}">${title}</a>`, edit);
};

/** @param action form that changes it; null if the viewer may not */
export const lockSection = (visit: Visit, isLocked: boolean, action: string | null): Html | null => {
  if (!isLocked && action === null) return null;
  const change =
    action !== null &&
    button(visit, `${action}?discussion_locked=${isLocked ? 0 : 1}`, {
      label: isLocked ? 'Unlock discussion' : 'Lock discussion',
    });
  return section(
    'Discussion',
    html`${isLocked ? html`<span class="status wait">${icon('lock')} Locked</span>` : 'Open'}${change}`,
  );
};

/** The viewer's own relation to a record; null if nobody is signed in. */
export type OwnRelation = { isSubscribed: boolean; hasTodo: boolean } | null;

export const loadOwnRelation = async ({ call }: Visit, target: Target): Promise<OwnRelation> => {
  if (call.actor === null) return null;
  const [isSubscribed, todo] = await Promise.all([
    loadSubscribed(call.db, call.actor.user.id, target),
    findPendingTodo(call, target),
  ]);
  return { isSubscribed, hasTodo: todo !== undefined };
};

/** @param path returns an address below the record's */
export const followSection = (
  visit: Visit,
  own: OwnRelation,
  path: (below: string) => string,
): Html | null => {
  if (own === null) return null;
  const { isSubscribed, hasTodo } = own;
  const follow = button(visit, path(isSubscribed ? '/unsubscribe' : '/subscribe'), {
    label: isSubscribed ? 'Unsubscribe' : 'Subscribe',
  });
  const todo = button(visit, path(hasTodo ? '/todo/done' : '/todo'), {
    label: hasTodo ? 'Mark to-do item as done' : 'Add a to-do item',
  });
  return section('Notifications', html`<div class="row">${follow}${todo}</div>`);
};

/** Participants that are shown. */
export const maxParticipants = 20;

export const participantsSection = ({ items, total }: Page<Person>): Html =>
  section(
    spellCount(total, 'participant'),
    html`<div class="row people">${items.map(
      ({ name, username, avatar_url = null }) =>
        html`<a href="/${username}" title="${name}">${avatar({ name, avatar_url })}<span class="visually-hidden">${name}</span></a>`,
    )}${total > items.length && html`<span class="muted">and ${total - items.length} more</span>`}</div>`,
  );

export const referenceSection = (reference: string): Html =>
  section(
    'Reference',
    html`<div class="row"><code>${reference}</code><button type="button" class="small" data-copy="${reference}" hidden aria-label="Copy the reference">${icon('copy')}</button></div>`,
  );
