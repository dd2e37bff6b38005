/** The page of an issue. */
import type { LoadedIssue } from '../../../../../planning/issues/find.ts';
import { taskCounts } from '../../../../../planning/issuables/text/tasks.ts';
import { may } from '../../../../../core/access/may.ts';
import { type View, type Visit, withRefusal } from '../../../page.ts';
import { checkbox, form, input } from '../../../parts/form.ts';
import { projectLinkPreview } from '../../../parts/projects/project_link_preview.ts';
import { button, projectView } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { relative } from '../../../parts/timestamp.ts';
import { ownProjectSuggestions } from '../../../parts/fields/suggestions.ts';
import { loadChoices } from '../../../parts/properties/load_choices.ts';
import { commentForm } from '../../../parts/timeline/comment_form.ts';
import { descriptionCard } from '../../../parts/timeline/description_card.ts';
import { stickyTitle } from '../../../parts/timeline/sticky_title.ts';
import { timelinePart } from '../../../parts/timeline/timeline.ts';
import type { ShownWith } from '../../issuables/issuable_kind.ts';
import { issuePath, issuesPath } from '../paths.ts';
import { branchMenu } from './branch_menu.ts';
import { type IssuePage, loadIssuePage } from './load_issue_page.ts';
import { sidePart } from './properties.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';

const stateBadge = ({ issue }: LoadedIssue): Html =>
  issue.state === 'opened'
    ? html`<span class="state open">${icon('issue')} Open</span>`
    : html`<span class="state closed">${icon('check-circle')} Closed</span>`;

const summary = ({ issue }: LoadedIssue): Html => {
  const tasks = taskCounts(issue.description);
  const { closed_at, closed_by } = issue;
  const closed =
    issue.state === 'closed' && closed_at !== null
      ? html` · closed ${relative(closed_at)}${closed_by !== null && html` by ${closed_by.name}`}`
      : null;
  return html`<span class="muted"><a class="author" href="/${issue.author.username}">${issue.author.name}</a> opened this ${relative(issue.created_at)}${closed} · ${spellCount(issue.user_notes_count, 'comment')}${
    tasks.count > 0 && ` · ${tasks.completed_count} of ${tasks.count} tasks done`
  }</span>`;
};

const headPart = (visit: Visit, { loaded, rights }: IssuePage): Html => {
  const { issue, project } = loaded;
  const edit =
    rights.update &&
    html`<a class="button" href="${issuePath(loaded, '/edit')}" data-edit="description" data-key="e">${icon('pencil')} Edit <kbd aria-hidden="true">e</kbd></a>`;
  const isOpen = issue.state === 'opened';
  const stateButton =
    rights.update &&
    button(visit, issuePath(loaded, `?state_event=${isOpen ? 'close' : 'reopen'}`), {
      label: isOpen ? 'Close' : 'Reopen',
      name: isOpen ? 'Close this issue' : 'Reopen this issue',
    });
  const newButton =
    visit.call.signedIn &&
    may(visit.call.viewer, 'create_issue', project) &&
    html`<a class="button primary" href="${issuesPath(project)}/new" data-key="i">${icon('plus')} New issue</a>`;
  return html`<div class="stack tight" id="record_head"><div class="row between top"><h1 id="issue_title" data-part>${issue.title} <span class="muted number">#${issue.iid}</span></h1><div class="row">${edit}${branchMenu(visit, loaded)}${newButton}</div></div>
<div class="row" id="issue_state" data-part>${stateBadge(loaded)}${stateButton}${issue.confidential === 1 && html`<span class="badge">${icon('lock')} Confidential</span>`}${issue.discussion_locked === 1 && html`<span class="badge">${icon('lock')} Locked</span>`}${summary(loaded)}</div></div>`;
};

/** Links to the new location of a moved issue, if the viewer can see it. */
const movedPart = ({ loaded: { issue }, movedTo }: IssuePage): Html | null => {
  if (issue.moved_to_id === null) return null;
  const place =
    movedTo === null
      ? 'another project'
      : html`<a href="/${movedTo.full_path}/issues/${movedTo.iid}">${movedTo.full_path}#${movedTo.iid}</a>`;
  return html`<p class="flash notice">${icon('info')} This issue was moved to ${place}.</p>`;
};

const noticePart = (shown: IssuePage): Html => {
  const { issue } = shown.loaded;
  return html`<div id="issue_notice" data-part>${movedPart(shown)}${
    issue.confidential === 1 &&
    html`<p class="flash warning">${icon('lock')} This issue is confidential: only its author, its assignees and members with at least the Reporter role can see it.</p>`
  }</div>`;
};

const movePart = (visit: Visit, { loaded, rights }: IssuePage): Html | null =>
  rights.move
    ? html`<details class="act"><summary>Move to another project</summary>${form(
        visit,
        { action: issuePath(loaded, '/move'), submit: 'Move issue', isQuiet: true },
        input({
          name: 'to_project',
          label: 'Project',
          hint: 'Its full path, such as group/project.',
          required: true,
          autocomplete: 'off',
          suggestions: ownProjectSuggestions(),
        }),
      )}</details>`
    : null;

const clonePart = (visit: Visit, { loaded, rights }: IssuePage): Html | null =>
  rights.clone
    ? html`<details class="act"><summary>Clone this issue</summary>${form(
        visit,
        { action: issuePath(loaded, '/clone'), submit: 'Clone issue', isQuiet: true },
        input({
          name: 'to_project',
          id: 'clone_to_project',
          label: 'Project',
          hint: 'Its full path. The clone is a new open issue.',
          value: loaded.project.full_path,
          required: true,
          autocomplete: 'off',
          suggestions: ownProjectSuggestions(),
        }),
        checkbox({ name: 'with_notes', label: 'Copy the comments, too', checked: false }),
      )}</details>`
    : null;

const deletePart = (visit: Visit, { loaded, rights }: IssuePage): Html | null =>
  rights.destroy
    ? html`<details class="act"><summary>Delete this issue</summary>${form(
        visit,
        { action: issuePath(loaded, '/delete'), submit: 'Delete issue', danger: true },
        checkbox({
          name: 'confirmed',
          label: `Delete #${loaded.target.iid} permanently, with all its comments`,
          checked: false,
        }),
      )}</details>`
    : null;

/** Renders the page of an issue. */
export const issueView = async (
  visit: Visit,
  loaded: LoadedIssue,
  options: ShownWith = {},
): Promise<View> => {
  const { page, alert, typed } = options;
  const { project, issue } = loaded;
  const shown = await loadIssuePage(visit, loaded, page);
  const choices = shown.rights.admin ? await loadChoices(visit, project) : null;
  const { timeline } = shown;
  const intent = issue.state === 'opened' ? 'close' : 'reopen';
  const comments = timelinePart(visit, timeline, {
    before: descriptionCard(visit, timeline),
    after: commentForm(visit, timeline, { word: 'issue', intent, typed }),
  });
  const content = html`${alert !== undefined && html`<p class="flash alert" role="alert">${alert}</p>`}${headPart(visit, shown)}${stickyTitle(stateBadge(loaded), issue.title, `#${issue.iid}`)}
${noticePart(shown)}
<div class="with-aside"><div class="stack">${comments}</div><div>${sidePart(
    visit,
    shown,
    choices,
  )}${movePart(visit, shown)}${clonePart(visit, shown)}${deletePart(visit, shown)}</div></div>`;
  const title = `${issue.title} (#${issue.iid})`;
  const view = projectView(
    visit,
    {
      project,
      title,
      noun: 'issues',
      hasHeading: true,
      ...(issue.confidential === 0 && {
        view: projectLinkPreview(visit, project, { action: 'read_issue', text: issue.description }),
      }),
    },
    content,
  );
  return withRefusal(view, alert !== undefined);
};
