/** Renders the properties of an issue, each with a form for users who can change it. */
import { today } from '../../../../../core/access/viewer.ts';
import type { Visit } from '../../../page.ts';
import { hidden, input } from '../../../parts/form.ts';
import { button } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import type { Choices } from '../../../parts/properties/load_choices.ts';
import {
  labelsForm,
  milestoneForm,
  addMeForm,
  peopleForm,
  propertyForm,
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
import { dayPart } from '../../../parts/times/dates.ts';
import { issuePath, issuesPath } from '../paths.ts';
import { linksSection } from './linked_issues.ts';
import type { IssuePage } from './load_issue_page.ts';
import { requestSections } from './related_requests.ts';

const dueForm = (visit: Visit, { loaded }: IssuePage): Html =>
  propertyForm(
    visit,
    issuePath(loaded),
    html`${hidden('shown_due_date', loaded.issue.due_date ?? '')}${input({
      name: 'due_date',
      label: 'Due date',
      type: 'date',
      value: loaded.issue.due_date,
    })}`,
  );

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

const confidentialPart = (visit: Visit, { loaded, rights }: IssuePage): Html => {
  const isConfidential = loaded.issue.confidential === 1;
  const change =
    rights.update &&
    button(visit, issuePath(loaded, `?confidential=${isConfidential ? 0 : 1}`), {
      label: isConfidential ? 'Make visible to everyone' : 'Make confidential',
    });
  return section(
    'Confidentiality',
    html`${isConfidential ? html`<span class="status wait">${icon('lock')} Confidential</span>` : 'Everybody who sees the project'}${change}`,
  );
};

/** Renders the properties that merge requests have, too. */
const sharedPart = (visit: Visit, { loaded, labels }: IssuePage, choices: Choices | null): Html => {
  const { issue, project } = loaded;
  const [action, list] = [issuePath(loaded), issuesPath(project)];
  const people = { role: 'assignee' as const, own: issue.assignees };
  return html`${assigneesSection(
    issue.assignees,
    choices !== null && peopleForm(visit, action, { ...people, choices }),
    choices !== null ? addMeForm(visit, action, people) : null,
  )}${labelsSection(labels, list, choices !== null && labelsForm(visit, action, { own: labels, choices }))}${milestoneSection(
    issue.milestone,
    { listPath: list, isAnonymous: !visit.call.signedIn },
    choices !== null && milestoneForm(visit, action, { own: issue.milestone, choices }),
  )}`;
};

/** @param choices null if the viewer may not change them */
export const sidePart = (visit: Visit, shown: IssuePage, choices: Choices | null): Html => {
  const { loaded, rights, own, participants } = shown;
  const { target, project, issue } = loaded;
  const path = (below: string): string => issuePath(loaded, below);
  const timing = { loaded, report: shown.timeReport, mayUpdate: rights.update, path: path('/time') };
  return html`<aside class="aside" id="issue_properties" data-part aria-label="Properties">${sharedPart(visit, shown, choices)}${duePart(visit, shown)}${timeSection(visit, timing)}${linksSection(visit, shown)}${requestSections(loaded, shown.requests)}${confidentialPart(visit, shown)}${lockSection(visit, issue.discussion_locked === 1, rights.admin ? path('') : null)}${followSection(
    visit,
    own,
    path,
  )}${participantsSection(participants)}${referenceSection(`${project.full_path}#${target.iid}`)}</aside>`;
};
