/** Renders the time tracking of an issue or merge request: progress against the estimate, people and entries. */
import { today } from '../../../../core/access/viewer.ts';
import { formatDuration } from '../../../../platform/duration.ts';
import type { LoadedTarget, Target } from '../../../../planning/issuables/target.ts';
import { mayDeleteTimeEntry } from '../../../../planning/time_tracking/delete_time_entry.ts';
import type { TimeEntry, TimeReport } from '../../../../planning/time_tracking/load_time_report.ts';
import type { Visit } from '../../page.ts';
import { button } from '../frame/project_layout.ts';
import { type Html, html } from '../html.ts';
import { dayPart } from '../times/dates.ts';
import { relative } from '../timestamp.ts';
import { userLink } from '../user_link.ts';
import { timeForm } from './property_forms.ts';
import { none, section } from './property_sections.ts';

type TimeSection = {
  loaded: Pick<LoadedTarget, 'target' | 'project'>;
  report: TimeReport;
  /** The viewer may change the times. */
  mayUpdate: boolean;
  /** Address of the form; entries are below it. */
  path: string;
};

const entryRow = (visit: Visit, { loaded, mayUpdate, path }: TimeSection, entry: TimeEntry): Html => {
  const { id, seconds, summary, spent_on, created_at, name, username } = entry;
  const time = spent_on === null ? relative(created_at) : dayPart(spent_on, today(visit.call.now));
  const duration = formatDuration(seconds) ?? '0h';
  const isDeletable = mayDeleteTimeEntry(visit.call, { project: loaded.project, mayUpdate }, entry);
  const action = `${path}/${id}/delete`;
  return html`<li>${duration} by <a class="author" href="/${username}">${name}</a> <span class="muted">${time}</span>${
    summary !== '' && html`<p>${summary}</p>`
  }${isDeletable && button(visit, action, { label: 'Delete', name: `Delete the entry of ${duration} by ${name}` })}</li>`;
};

const reportPart = (visit: Visit, shown: TimeSection): Html | null => {
  const { people, entries } = shown.report;
  if (people.length === 0) return null;
  return html`<details><summary>Time by person</summary><ul class="plain-list">${people.map(
    ({ seconds, ...user }) => html`<li>${userLink(user)} ${formatDuration(seconds) ?? '0h'}</li>`,
  )}</ul></details><details><summary>Time entries</summary><ul class="plain-list">${entries.map((entry) =>
    entryRow(visit, shown, entry),
  )}</ul></details>`;
};

/** Renders the share of the estimate that is spent, as text and as a bar. */
const progressPart = ({ time_estimate, total_time_spent }: Target): Html => {
  const [estimate, spent] = [formatDuration(time_estimate), formatDuration(total_time_spent)];
  if (estimate === null) return spent === null ? none : html`${spent} spent`;
  const percent = Math.round((total_time_spent / time_estimate) * 100);
  const excess = formatDuration(Math.max(0, total_time_spent - time_estimate));
  return html`<span>${spent ?? '0h'} spent of ${estimate} <span class="muted">(${percent} %)</span></span>${
    excess !== null && html` <span class="status bad">${excess} over the estimate</span>`
  }<svg class="bar ${excess === null ? 'done' : 'late'}" aria-hidden="true"><rect width="${Math.min(percent, 100)}%" height="100%"/></svg>`;
};

export const timeSection = (visit: Visit, shown: TimeSection): Html => {
  const { loaded, mayUpdate, path } = shown;
  return section(
    'Time',
    html`${progressPart(loaded.target)}${reportPart(visit, shown)}`,
    mayUpdate && timeForm(visit, path, loaded.target.time_estimate),
  );
};
