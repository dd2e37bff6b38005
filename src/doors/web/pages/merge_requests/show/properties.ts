/** Renders the properties of a merge request, each with a form for users who can change it. */
import { basicUser } from '../../../../../identity/users/json.ts';
import type { Visit } from '../../../page.ts';
import { form, hidden } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type IconName, icon } from '../../../parts/icon.ts';
import { userLink } from '../../../parts/user_link.ts';
import type { Choices } from '../../../parts/properties/load_choices.ts';
import {
  addMeForm,
  labelsForm,
  milestoneForm,
  peopleForm,
} from '../../../parts/properties/property_forms.ts';
import {
  assigneesSection,
  followSection,
  labelsSection,
  lockSection,
  milestoneSection,
  none,
  participantsSection,
  referenceSection,
  section,
} from '../../../parts/properties/property_sections.ts';
import { timeSection } from '../../../parts/properties/time_section.ts';
import { requestPath, requestsPath } from '../paths.ts';
import type { ClosedIssue, RequestPage } from './load_overview.ts';

const reviewStates: Record<string, readonly [style: string, image: IconName, word: string]> = {
  approved: ['ok', 'check', 'approved'],
  unapproved: ['off', 'circle', 'revoked'],
  reviewed: ['wait', 'comment', 'commented'],
  requested_changes: ['bad', 'cross', 'requested changes'],
};

const reviewersPart = (visit: Visit, shown: RequestPage, choices: Choices | null): Html => {
  const { reviewers, state } = shown.loaded.merge_request;
  const isOpen = state === 'opened';
  const states = new Map(shown.reviewers.map(({ user_id, state }) => [user_id, state as string]));
  const rows = reviewers.map((user) => {
    const [style, image, word] = reviewStates[states.get(user.id) ?? ''] ?? ['off', 'clock', 'waiting'];
    const again =
      isOpen &&
      shown.rights.update &&
      states.has(user.id) &&
      states.get(user.id) !== 'unreviewed' &&
      form(
        visit,
        {
          action: requestPath(shown.loaded, '/request_review'),
          submit: 'Request review again',
          isQuiet: true,
        },
        hidden('user_id', user.id),
      );
    return html`<div class="row between">${userLink(basicUser(user, visit.call))}<span class="status ${style}">${icon(image)} ${word}</span></div>${again}`;
  });
  const action = requestPath(shown.loaded);
  // The author asks others.
  const mayReview = shown.loaded.merge_request.author.id !== visit.call.actor?.user.id;
  return section(
    reviewers.length === 1 ? 'Reviewer' : 'Reviewers',
    html`${rows.length === 0 ? none : rows}${choices !== null && mayReview && addMeForm(visit, action, { role: 'reviewer', own: reviewers })}`,
    choices !== null && peopleForm(visit, action, { role: 'reviewer', own: reviewers, choices }),
  );
};

const issueLine = ({ id, iid, title, references }: ClosedIssue): Html => {
  if (iid === undefined || references === undefined) return html`<div>${String(id)} ${title}</div>`;
  const project = references.full.slice(0, references.full.lastIndexOf('#'));
  return html`<div><a href="/${project}/issues/${iid}">#${iid} ${title}</a></div>`;
};

const closesPart = ({ closes: { items, total } }: RequestPage): Html | null =>
  total === 0
    ? null
    : section(
        'Closes',
        html`${items.map(issueLine)}${total > items.length && html`<span class="muted">and ${total - items.length} more</span>`}`,
      );

/** @param choices null if the viewer may not change them */
export const sidePart = (visit: Visit, shown: RequestPage, choices: Choices | null): Html => {
  const { loaded, rights, own, participants, labels } = shown;
  const { target, project, merge_request } = loaded;
  const { assignees, milestone } = merge_request;
  const path = (below: string): string => requestPath(loaded, below);
  const [action, list] = [path(''), requestsPath(project)];
  const people = { role: 'assignee' as const, own: assignees };
  const timing = { loaded, report: shown.timeReport, mayUpdate: rights.update, path: path('/time') };
  return html`<aside class="aside" id="request_properties" data-part aria-label="Properties">${reviewersPart(visit, shown, choices)}${assigneesSection(
    assignees.map((user) => basicUser(user, visit.call)),
    choices !== null && peopleForm(visit, action, { ...people, choices }),
    choices !== null ? addMeForm(visit, action, people) : null,
  )}${closesPart(shown)}${labelsSection(labels, list, choices !== null && labelsForm(visit, action, { own: labels, choices }))}${milestoneSection(
    milestone,
    { listPath: list, isAnonymous: !visit.call.signedIn },
    choices !== null && milestoneForm(visit, action, { own: milestone, choices }),
  )}${timeSection(visit, timing)}${lockSection(
    visit,
    merge_request.discussion_locked === 1,
    rights.admin ? action : null,
  )}${followSection(visit, own, path)}${participantsSection(participants)}${referenceSection(`${project.full_path}!${target.iid}`)}</aside>`;
};
