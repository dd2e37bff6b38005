/** Renders the log of a job, with buttons that show the times of its lines and wrap long lines. */
import { hasTimestamps } from '../../../../ci/artifacts/traces/line_timestamp.ts';
import type { TracePart } from '../../../../ci/artifacts/traces/read_trace_part.ts';
import type { LoadedJob } from '../../../../ci/jobs/find.ts';
import { boolean, optional } from '../../../../platform/http/schema.ts';
import { logMarkup } from '../../log/log_markup.ts';
import type { Visit } from '../../page.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import { preferenceForm } from '../../parts/fields/preference_form.ts';
import { type Html, html } from '../../parts/html.ts';

/** Parameters that change how a log is shown on one page. */
export const logParams = { timestamps: optional(boolean()), wrap: optional(boolean()) };

type Choices = { timestamps?: boolean | undefined; wrap?: boolean | undefined };

/** Applies the choices of the address to a visit. */
export const withLogChoices = (visit: Visit, { timestamps, wrap }: Choices): Visit => {
  if (timestamps === undefined && wrap === undefined) return visit;
  const { showsLogTimes, wrapsLogs } = visit.preferences;
  const preferences = {
    ...visit.preferences,
    showsLogTimes: timestamps ?? showsLogTimes,
    wrapsLogs: wrap ?? wrapsLogs,
  };
  return { ...visit, preferences };
};

/** Part of a log to show: a part number starting at 1, or the part that contains a line. */
export type LogPosition = { part?: number | undefined; line?: number | undefined };

const choiceButtons = (visit: Visit, path: string, text: string): Html => {
  const { showsLogTimes, wrapsLogs } = visit.preferences;
  const choice = (name: keyof Choices, value: boolean, label: string): Html =>
    html`<button class="small" name="${name}" value="${String(value)}">${label}</button>`;
  return preferenceForm(
    visit,
    { path },
    html`${hasTimestamps(text) && choice('timestamps', !showsLogTimes, showsLogTimes ? 'Hide timestamps' : 'Show timestamps')}
${choice('wrap', !wrapsLogs, wrapsLogs ? 'Do not wrap lines' : 'Wrap lines')}`,
  );
};

const partsNav = (path: string, { first, last, parts }: TracePart): Html | null =>
  parts === 1
    ? null
    : html`<nav aria-label="Parts of the log"><p class="buttons">${first > 0 && html`<a href="${path}?part=${first}">Earlier</a>`}
<span class="quiet">Part ${first === last ? first + 1 : `${first + 1} and ${last + 1}`} of ${parts}</span>
${last < parts - 1 && html`<a href="${path}?part=${last + 2}">Later</a> <a href="${path}">The end</a>`}</p></nav>`;

type LogPartOptions = { part: TracePart | null; isOpen: boolean };

export const logPart = (visit: Visit, loaded: LoadedJob, { part, isOpen }: LogPartOptions): Html => {
  const { code, job } = loaded;
  if (part === null) {
    const why = job.erased_at === null ? (isOpen ? 'No output yet.' : 'No log.') : 'The log was erased.';
    return html`<div id="log" data-part><p>${why}</p></div>`;
  }
  const path = projectPagePath(code.project, `jobs/${job.id}`);
  const nav = partsNav(path, part);
  const { showsLogTimes, wrapsLogs } = visit.preferences;
  const isTimed = showsLogTimes && hasTimestamps(part.text);
  const log = logMarkup({ ...part, isWhole: part.parts === 1, showsTimes: isTimed });
  return html`<div id="log" data-part>
<div class="row log-choices">${choiceButtons(visit, path, part.text)}
<a class="button small" href="/api/v4/projects/${code.project.id}/jobs/${job.id}/trace">Complete log as text</a></div>
${nav}<div class="log${isTimed && ' timed'}${!wrapsLogs && ' unwrapped'}">${log}</div>${nav}</div>`;
};
