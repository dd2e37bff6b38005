/** Parts that the rows of issues and of merge requests share. */
import { avatar } from '../../../parts/avatar.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type IconName, icon } from '../../../parts/icon.ts';
import {
  type ListedMilestone,
  type MilestoneLinks,
  listedMilestoneHref,
} from '../../../parts/properties/milestone_link.ts';
import { addressOf } from './filter_chips.ts';

type User = { name: string; username: string; avatar_url: string | null };

/** Where the links of a row lead: labels, authors and assignees filter the list. */
export type RowLinks = MilestoneLinks;

/** A word or number with its meaning as the title. */
export const fact = (content: Html, title: string, style = ''): Html =>
  html`<span class="status ${style}" title="${title}">${content}</span>`;

const maxAvatars = 4;

/** The icon tells the roles apart where the title is not read. */
const roles = {
  assignee: { image: 'user', words: 'Assigned to' },
  reviewer: { image: 'eye', words: 'Reviewer:' },
} as const satisfies Record<string, { image: IconName; words: string }>;

/** Renders the assignees or reviewers, each linked to the records with them in that role. */
export const peoplePart = (
  role: keyof typeof roles,
  users: readonly User[],
  { listPath }: RowLinks,
): Html | null => {
  if (users.length === 0) return null;
  const { image, words } = roles[role];
  const links = users.slice(0, maxAvatars).map((user) => {
    const href = addressOf(listPath, { [`${role}_username`]: user.username });
    return html`<a href="${href}" title="${words} ${user.name}">${avatar(user)}<span class="visually-hidden">${words} ${user.name}</span></a>`;
  });
  const others = users.slice(maxAvatars).map(({ name }) => name);
  return html`<span class="avatars linked">${icon(image)}${links}${
    others.length > 0 &&
    html`<span class="count" title="${words} ${others.join(', ')}">+${others.length}<span class="visually-hidden">: ${words} ${others.join(', ')}</span></span>`
  }</span>`;
};

export const authorLink = ({ name, username }: User, { listPath }: RowLinks): Html =>
  html`<a class="author" href="${addressOf(listPath, { author_username: username })}">${name}</a>`;

export const milestonePart = (milestone: ListedMilestone | null, links: RowLinks): Html | null =>
  milestone === null
    ? null
    : html`<a class="status" href="${listedMilestoneHref(milestone, links)}" title="Milestone">${icon('milestone', 'Milestone')} ${milestone.title}</a>`;
